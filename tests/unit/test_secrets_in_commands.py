"""Passwords that commands are given, logins of registries and clusters, and cookies of sessions (FIELD F44).

No secret here is real, and each is put together at run time, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import base64
import json

import pytest

from memu.ingest.redact import redact

pytestmark = pytest.mark.unit

WORD, MIXED = "hunter" + "xyz", "S3cret" + "Pw9x"
TOKEN = "a1B2c3D4" + "e5F6g7H8i9J0"
HEX = "0a1b2c3d4e5f6071" + "8293a4b5c6d7e8f9"
COMMAND_FORMS = """
docker login -u me -p {}
docker login -u me -p {} registry.example
docker login --username me --password {} registry.example
docker login --username=me --password="{}"
docker login -p{} -u me
run: `docker login -u me -p {}`
{{"command": "docker login -u me -p \\"{}\\" registry.example"}}
podman login -u me -p {} quay.example
nerdctl login -u me -p '{}' quay.example
helm registry login -u me -p {} registry.example
az login --service-principal -u me -p {} --tenant t
oc login -u me -p {} https://cluster.example
openssl rsa -in k.pem -passin pass:{} -out o.pem
openssl pkcs12 -export -out x.p12 -passout 'pass:{}'
openssl enc -d -aes-256-cbc -pass pass:{} -in a
openssl enc -aes-256-cbc -k {} -in a -out b
keytool -genkey -storepass {} -alias a
unzip -P {} a.zip
unzip -o -P '{}' a.zip
zip -P {} -r a.zip folder
/usr/bin/zip -rP {} a.zip folder
7z a -p{} a.7z folder
7z x a.7z -p'{}' -o/tmp
ldapsearch -x -D cn=admin,dc=boat -w {} -b dc=boat
ldapadd -D cn=admin -w "{}" -f a.ldif
ldappasswd -D cn=admin -s {} uid=ann
mysqldump --password={} shop
sshpass -p '{}' ssh me@host
redis-cli -h cache --pass {} ping
mongo shop -u me -p {} --host db
mongodump --username me --password={} --db shop
psql "host=db user=me password={} sslmode=require"
psql "password={} host=db"
PGPASSWORD={} psql -h db shop
PGPASSWORD='{}' pg_dump shop
MYSQL_PWD={} mysql -u me shop
curl -u me:{} https://x.example
wget --user=me --password={} https://x.example
wget --http-password {} https://x.example
kubectl create secret generic db --from-literal=username=me --from-literal=password={}
kubectl create secret generic db --from-literal=db-password='{}'
htpasswd -b /etc/nginx/.htpasswd me {}
htpasswd -bc .htpasswd me {}
htpasswd -nbB -C 10 me "{}"
docker run --entrypoint htpasswd httpd:2 -Bbn me {} > htpasswd
smbclient -U me%{} //server/share
smbclient //server/share --user='me%{}'
net use Z: \\\\server\\share /user:boat\\me {}
net use Z: \\\\server\\share {} /user:me /persistent:yes
echo {} | docker login -u me --password-stdin
echo -n "{}" | docker login -u me --password-stdin registry.example
docker login -u me --password-stdin <<< '{}'
""".strip().split("\n")
TOKEN_FORMS = """
vault login {}
vault login s.{}
gh auth login --with-token <<< {}
gh auth login --hostname x.example --with-token <<<'{}'
echo "{}" | gh auth login --with-token
npm config set //registry.example/:_authToken {}
npm config set //registry.example/:_authToken={}
yarn config set npmAuthToken "{}"
Set-Cookie: session={}; Path=/; HttpOnly
set-cookie: __Host-session_id=s%3A{}; Secure
Cookie: theme=dark; sessionid={}
Cookie: connect.sid={}; lang=en
cookie: _shop_session={}
{{"Cookie": "a=b; auth_token={}"}}
curl --cookie "PHPSESSID={}" https://x.example
""".strip().split("\n")


def is_hidden(form: str, secret: str) -> bool:
    """The secret is gone, and all that stands around it is there."""
    before, after = form.format("\0").split("\0")
    text = redact(f"see:\n{before}{secret}{after}\n").text
    return secret not in text and text.startswith(f"see:\n{before}") and text.endswith(f"]{after}\n")


@pytest.mark.parametrize("secret", [WORD, MIXED, "p!ss+w0rd"])
@pytest.mark.parametrize("form", COMMAND_FORMS)
def test_f44_what_a_command_is_given_as_a_password(form: str, secret: str) -> None:
    assert is_hidden(form, secret)


@pytest.mark.parametrize("form", TOKEN_FORMS)
def test_f44_tokens_of_commands_and_sessions(form: str) -> None:
    before = form.format("\0").split("\0")[0].removesuffix("s.").removesuffix("s%3A")
    text = redact(form.format(TOKEN)).text
    assert TOKEN not in text
    assert text.startswith(f"{before}[redacted:")


@pytest.mark.parametrize(
    "command", ["curl -u a:{} --proxy-user b:{} x", "openssl x -passin pass:{} -passout pass:{}"]
)
def test_f44_both_secrets_of_one_command(command: str) -> None:
    text = redact(command.format(WORD, MIXED)).text
    assert (WORD in text, MIXED in text) == (False, False)
    assert redact(f"Cookie: sessionid={HEX}; token={TOKEN}").counts.get("session-cookie", 0) >= 1
    assert TOKEN not in redact(f"Cookie: sessionid={HEX}; token={TOKEN}").text


def test_f44_keys_of_the_cloud_set_by_a_command() -> None:
    key = "cJalrXUtnFEMI/K7MD" + "ENG/bPxRfiCYzz12345678"
    for name in ("aws_secret_access_key", "profile.me.aws_secret_access_key", "aws_session_token"):
        assert key not in redact(f"aws configure set {name} {key}").text
    assert "0a1b" not in redact(f"openssl enc -aes-256-cbc -K {HEX} -iv 0 -in a").text


@pytest.mark.parametrize("login", ["me:" + WORD, "me:" + MIXED, "$app:" + TOKEN])
def test_f44_logins_of_registries(login: str) -> None:
    packed = base64.b64encode(login.encode()).decode()
    config = {"auths": {"https://index.docker.io/v1/": {"auth": packed}, "r.example": {}}}
    for text in (json.dumps(config), json.dumps(config, indent=2), json.dumps(json.dumps(config))):
        redacted = redact(text).text
        assert packed not in redacted
        assert "r.example" in redacted
        assert json.loads(redacted)
        hidden = base64.b64encode(text.encode()).decode()
        assert hidden[:-4] not in redact(f"  .dockerconfigjson: {hidden}").text or text.startswith('"')


@pytest.mark.parametrize("kind", ["RSA ", "EC ", ""])
def test_f44_keys_of_clusters_go_and_certificates_stay(kind: str) -> None:
    def pack(name: str) -> str:
        return base64.b64encode(f"-----BEGIN {name}-----\n{TOKEN * 9}\n-----END {name}-----\n".encode()).decode()

    key, certificate = pack(f"{kind}PRIVATE KEY"), pack("CERTIFICATE")
    text = f"    client-certificate-data: {certificate}\n    client-key-data: {{}}\n    token: {TOKEN}\n"
    redacted = redact(text.format(key)).text
    assert redacted == text.format("[redacted:private-key]").replace(TOKEN, "[redacted:token]")
    assert key not in redact(json.dumps({"tls.key": key, "tls.crt": certificate})).text


@pytest.mark.parametrize(
    "command", ["mysql -p{}", "docker login -u me -p {}", "sshpass -p {} ssh x", "7z x -p{} a.7z"]
)
def test_f44_a_number_longer_than_a_port_is_a_password(command: str) -> None:
    assert redact(command.format("123" + "45678")).text == command.format("[redacted:password]")
    for port in ("8080", "3306:3306", "8000-8010:9000-9010/udp", "127.0.0.1:80:80"):
        assert redact(command.format(port)).text == command.format(port)


HARMLESS = """
docker login -u me -p $PASS registry.example
docker login -u me -p ${X}
docker login -u me -p "$(cat password.txt)"
docker login -u me -p <password> registry.example
docker login -u me -p *** registry.example
docker login -u me -p YOUR_PASSWORD
docker login -u me --password-stdin < token.txt
docker login [OPTIONS] [SERVER]
  -p, --password string   Password or token
Use docker login -p to pass a password.
Use docker login -p flag instead
With docker login -p anybody reads it in the list of processes.
Instead of the docker login -p option. It is safer
mkdir -p folder/deeper
ssh -p 2222 me@host
scp -P 2222 a.zip me@host:
scp a.zip -P 2222 me@host:
docker run -p 8080:80 nginx
docker run --name mongo -p 27017:27017 -d mongo
docker run mongo -p 127.0.0.1:27017:27017
unzip -p a.zip inner.txt
zip -r a.zip folder
psql -p 5432 -h db shop
psql -h db -U me -w shop
7z x -p a.7z
7z l a.7z
openssl enc -aes-256-cbc -pass file:key.txt -in a
openssl rsa -passin env:KEY_PASS -in k.pem
openssl rsa -passin pass:$KEY_PASS -in k.pem
openssl req -key k.pem -out r.pem
compass: 12 degrees
ldapsearch -x -W -D cn=admin
ldapsearch -x -y secret.txt
mongo shop -u me -p --authenticationDatabase admin
sshpass -e ssh me@host
sshpass -p "$PASS" ssh me@host
redis-cli -a $REDIS_PASSWORD
PGPASSWORD=$DB_PASSWORD psql
PGPASSWORD=<password> psql
host=db password=required
wget --user=me --password=$PASS https://x.example
wget --ask-password https://x.example
curl -u me https://x.example
htpasswd -c .htpasswd me
htpasswd -nb me $PASS
smbclient -U me //server/share
smbclient -U me%$PASS //server/share
net use Z: \\\\server\\share /user:me *
net use Z: \\\\server\\share /user:me /persistent:yes
net use Z: \\\\server\\share %PASS% /user:me
kubectl create secret generic db --from-literal=password=$PASS
kubectl create secret generic db --from-literal=username=administrator
kubectl create configmap c --from-literal=key1=value1
gh auth login --with-token < token.txt
gh auth login --with-token <<< "$TOKEN"
echo "$TOKEN" | gh auth login --with-token
echo done | tee log.txt
npm config set //registry.example/:_authToken ${NPM_TOKEN}
npm config set registry https://registry.example/
aws configure set region eu-west-1
aws configure set aws_secret_access_key $KEY
vault login -method=github
vault login to-the-right-server-of-2024
"auth": "basic"
"auth": "oauth2bearer"
{"auth": {"user": 1}, "auths": {}}
Set-Cookie: lang=en-GB-2024-a-long-value; Path=/
Set-Cookie: session=; Max-Age=0
Cookie: theme=dark; session=guest
Cookie: session=<your-session-id-1234>
Cookie: session=a-long-name-made-of-words
Cookies: see the session=a1 of yesterday
client-key-data: DATA+OMITTED
client-key-data: REDACTED
client-key: /home/me/.minikube/client.key
'mysql -p' or 'mariadb -p' asks for it
""".strip().split("\n")


@pytest.mark.parametrize("line", HARMLESS)
def test_other_options_placeholders_and_prose_stay(line: str) -> None:
    assert redact(f"see:\n{line}\n").text == f"see:\n{line}\n"


def test_f44_an_option_is_found_in_a_long_text_of_many_options() -> None:
    text = "mkdir -p a\n" * 400 + "docker run -p 80:80 x\n" + f"docker login -u me -p {MIXED}\n" + "ls -a\n" * 400
    assert redact(text).text == text.replace(MIXED, "[redacted:password]")
    far = "word " * 9_000
    assert redact(f"{far}\ndocker login -u me -p {MIXED}\n{far}").counts == {"password": 1}
