"""Secrets become marks before anything else sees a text (FIELD F44, P11).

No secret here is real, and each is put together at run time, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import base64
import json
import random
import string
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memu.ingest.disguises import redact_disguised
from memu.ingest.redact import redact
from memu.ingest.secret_commands import COMMANDS
from memu.ingest.secret_patterns import BEFORE_TOKENS, TOKENS, WORDINGS

DATA = Path(__file__).parent.parent / "data"
CHANCE = random.Random(11)
LETTERS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def made(length: int, alphabet: str = LETTERS) -> str:
    """Random, and sure to mix letters and digits where the alphabet has both cases."""
    start = "a1B" if alphabet == LETTERS else ""
    return start + "".join(CHANCE.choices(alphabet, k=length - len(start)))


TOKEN_FORMS = {
    "openai-key": "sk-" + made(48),
    "openai-key project": "sk-" + "proj-" + made(60) + "_" + made(60),
    "anthropic-key": "sk-" + "ant-api03-" + made(90),
    "aws-access-key": "AKIA" + made(16, string.ascii_uppercase + "234567"),
    "google-key": "AIza" + made(35),
    "google-oauth": "GOCSPX-" + made(28),
    "github-token": "ghp_" + made(36),
    "github-token fine": "github_" + "pat_" + made(82),
    "gitlab-token": "glpat-" + made(20),
    "slack-token": "xoxb-" + "1234567890-" + made(24),
    "stripe-key": "sk_" + "live_" + made(24),
    "twilio-key": "SK" + made(32, HEX),
    "sendgrid-key": "SG." + made(22) + "." + made(43),
    "npm-token": "npm_" + made(36),
    "pypi-token": "pypi-" + "AgEI" + made(70),
    "huggingface-token": "hf_" + made(34),
    "groq-key": "gsk_" + made(52),
    "xai-key": "xai-" + made(80),
    "digitalocean-token": "dop_" + "v1_" + made(64, HEX),
    "heroku-key": "HRKU-" + made(60),
    "shopify-token": "shpat_" + made(32, HEX),
    "atlassian-token": "ATATT3" + made(180),
    "linear-key": "lin_" + "api_" + made(40),
    "notion-token": "ntn_" + made(46),
    "figma-token": "figd_" + made(40),
    "databricks-token": "dapi" + made(32, HEX),
    "newrelic-key": "NRAK-" + made(27, string.ascii_uppercase + string.digits),
    "grafana-token": "glsa_" + made(41),
    "vault-token": "hvs." + made(90),
    "doppler-token": "dp.pt." + made(40),
    "pulumi-token": "pul-" + made(40, HEX),
    "supabase-key": "sbp_" + made(40, HEX),
    "model-host-key": "pplx-" + made(48),
    "age-key": "AGE-SECRET-" + "KEY-1" + made(58, string.ascii_uppercase + string.digits),
    "jwt": "eyJ" + made(20) + ".eyJ" + made(60) + "." + made(43),
}

SURROUNDINGS = [
    "{}", "the key is {} now", "`{}`", "**{}**", "({})", "'{}',", "x={}", "https://a.example/?k={}&z=1", "a,{},b",
    '{{"k": "{}"}}', '{{"text": "line\\n{}\\nnext"}}', "<td>{}</td>", "k%3D{}", "> {}", "see {}.",
]  # fmt: skip


@pytest.mark.parametrize("surrounding", SURROUNDINGS)
@pytest.mark.parametrize("name", TOKEN_FORMS)
def test_f44_tokens_by_their_own_form(name: str, surrounding: str) -> None:
    secret = TOKEN_FORMS[name]
    text = surrounding.format(secret)
    redacted = redact(text)
    assert secret not in redacted.text
    assert redacted.counts == {name.split()[0]: 1}
    assert redacted.text == surrounding.format(f"[redacted:{name.split()[0]}]")


@pytest.mark.parametrize("prefix", ["ghp\\_", "sk\\_live\\_", "glpat\\-", "xoxb\\-"])
def test_tokens_as_markdown_writers_escape_them(prefix: str) -> None:
    secret = prefix + made(36)
    assert redact(f"Token {secret} here").text.startswith("Token [redacted:")


PASSWORDS = ["hunter2", "S3cr3t!pass", "Tr0ub4dor&3", "correct-horse-battery-staple", "p@ss,w0rd"]


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize(
    "form",
    [
        "DB_PASSWORD={}", "export MYSQL_PASSWORD={}", 'password = "{}"', "password: '{}'", '"password": "{}"',
        '{{\\"password\\": \\"{}\\"}}', "PASSWORD='{}'", "<password>{}</password>", "| password | `{}` |",
        '  - name: DB_PASSWORD\n    value: "{}"', "**Password:** `{}`", 'dbPassword := "{}"',
        'password: str = "{}"',
        "Passwort: '{}'", "密码：'{}'", '<add key="DbPassword" value="{}"/>', "<th>Password</th><td>`{}`</td>",
    ],
)  # fmt: skip
def test_f44_passwords_behind_their_name(form: str, password: str) -> None:
    redacted = redact(form.format(password))
    assert redacted.text == form.format("[redacted:password]")
    assert redacted.counts == {"password": 1}


@pytest.mark.parametrize("password", ["hunter2", "S3cr3t!pass", "Tr0ub4dor-3"])
@pytest.mark.parametrize(
    "form",
    [
        "password: {}", "password={}", "Password:  **{}**", "password: {}  # prod", "- pwd: {}", "密码：{}",
        "jdbc:postgresql://h/db?user=x&password={}&ssl=true", "mysql --password={} -u x", "tool --password {} run",
        "curl -u admin:{} https://x.example", "login: ok\npassword: {}\n",
    ],
)  # fmt: skip
def test_f44_bare_passwords(form: str, password: str) -> None:
    assert redact(form.format(password)).text == form.format("[redacted:password]")


@pytest.mark.parametrize(
    "form",
    [
        "API_KEY={}", "api_key = '{}'", "X-Api-Key: {}", '"accessKey": "{}"', "aws_secret_access_key = {}",
        "client_secret: {}", "ACCESS_TOKEN={}", "token: {}", "?access_token={}&x=1", "SECRET_KEY = '{}'",
        "AccountName=x;AccountKey={};EndpointSuffix=core", "tool --api-key {}", "//registry/:_authToken={}",
        "Authorization: Bearer {}", '"Authorization": "Bearer {}"', "-H 'Authorization: token {}'",
        "SECRET_KEY_BASE={}",
    ],
)  # fmt: skip
def test_f44_keys_and_tokens_behind_their_name(form: str) -> None:
    secret = made(40)
    redacted = redact(form.format(secret))
    assert secret not in redacted.text
    before, after = form.replace("{{", "{").split("{}")
    assert redacted.text.startswith(before)
    assert redacted.text.endswith(after)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgres://user:password@host/db", "postgres://[redacted:url-credentials]@host/db"),
        ("see https://me:pw1@x.example/a?b=c.", "see https://[redacted:url-credentials]@x.example/a?b=c."),
        ("redis://:s3cret@localhost:6379", "redis://[redacted:url-credentials]@localhost:6379"),
        ("amqp://u:p@ss@h/v", "amqp://[redacted:url-credentials]@h/v"),
        (r'{"dsn": "pg:\/\/u:pw1@h\/db"}', r'{"dsn": "pg:\/\/[redacted:url-credentials]@h\/db"}'),
        ("user:password@host", "[redacted:login]@host"),
        ("root:hunter2@tcp(127.0.0.1:3306)/db", "[redacted:login]@tcp(127.0.0.1:3306)/db"),
        ("admin:hunter2@db.example.com:5432", "[redacted:login]@db.example.com:5432"),
    ],
)
def test_f44_credentials_in_addresses_go_and_the_host_stays(text: str, expected: str) -> None:
    assert redact(text).text == expected


def test_f44_basic_logins_and_webhooks() -> None:
    login = base64.b64encode(b"admin:hunter22").decode()
    assert redact(f"Authorization: Basic {login}").text == "Authorization: Basic [redacted:basic-login]"
    for address, secret in (
        ("https://hooks.slack.com/services/", "T" + made(8) + "/B" + made(8) + "/" + made(24)),
        ("https://discord.com/api/webhooks/", "123456789012345678/" + made(68)),
        ("https://x.blob.example/c?sv=1&sig=", made(43) + "%3D"),
    ):
        assert redact(address + secret).text.startswith(address + "[redacted:")
    bot = "12345678:" + "AA" + made(33)
    assert bot[11:] not in redact(bot).text


def armoured(kind: str = "RSA ", lines: int = 6) -> list[str]:
    body = [made(64, LETTERS + "+/") for _ in range(lines)] + [made(20) + "=="]
    return [f"-----BEGIN {kind}PRIVATE KEY-----", *body, f"-----END {kind}PRIVATE KEY-----"]


@pytest.mark.parametrize("kind", ["RSA ", "", "EC ", "OPENSSH ", "ENCRYPTED "])
@pytest.mark.parametrize(
    "write",
    [
        lambda lines: "\n".join(lines),
        lambda lines: "\n".join("    " + line for line in lines),
        lambda lines: "\n".join("> " + line for line in lines),
        lambda lines: "\n".join('"' + line + '\\n" +' for line in lines),
        lambda lines: json.dumps({"private_key": "\n".join(lines)}),
        lambda lines: json.dumps(json.dumps({"k": "\n".join(lines)})),
        lambda lines: "\n".join(lines[:-1]) + "\n\nWords that follow, and stay.",
        lambda lines: "\n".join(
            [lines[0], "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0A1B", "", *lines[1:]]
        ),
        lambda lines: "PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 7\n" + "\n".join(lines[1:-1]),
    ],
)
def test_f44_private_keys_go_whole_and_lines_stay(kind: str, write: Callable[[list[str]], str]) -> None:
    lines = armoured(kind)
    text = "before\n" + write(lines) + "\nafter, an ordinary line"
    redacted = redact(text)
    assert not [line for line in lines[1:-1] if line in redacted.text]
    assert redacted.text.count("\n") == text.count("\n")
    assert redacted.text.startswith("before\n")
    assert redacted.text.endswith("\nafter, an ordinary line")
    assert redacted.counts == {"private-key": 1}


@pytest.mark.parametrize("layer", [lambda value: {"content": value}, lambda value: [value, {"deep": [value]}]])
def test_marks_leave_json_readable(layer: Callable[[str], object]) -> None:
    secrets = [*TOKEN_FORMS.values(), *(f'password: "{word}"' for word in PASSWORDS), "\n".join(armoured())]
    for secret in secrets:
        record = json.dumps(layer(f'said {secret}\nand "more" \\ {secret}'))
        json.loads(redact(record).text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"password": 12345678, "n": 1}', '{"password": "[redacted:password]", "n": 1}'),
        ('{"s": "{\\"password\\": 12345678}"}', '{"s": "{\\"password\\": \\"[redacted:password]\\"}"}'),
        ("password = 12345678", 'password = "[redacted:password]"'),
        ('"password": hunter2', '"password": "[redacted:password]"'),
        ('{"run": "PASSWORD=12345678 x"}', '{"run": "PASSWORD=[redacted:password] x"}'),
    ],
)
def test_a_mark_takes_quotes_where_a_number_stood(text: str, expected: str) -> None:
    assert redact(text).text == expected
    assert redact(expected).text == expected


@pytest.mark.parametrize("password", ["S3cretPassw0rd", "lpassw0rdhere", "Tr0ub4dor-3"])
@pytest.mark.parametrize(
    "form",
    [
        "machine h login l password {}", "machine h.example\n  login l\n  password {}\n",
        "machine h\tlogin l account a password {}", "default login me password {}",
        "mysql -p{}", "mysql -u root -h db -p{} shop < dump.sql", "mysqldump --all -p'{}' > x", "mariadb -p{}",
        "`mysqladmin -uroot -p{} status`", "sshpass -p {} ssh me@host", "redis-cli -h c -a {} ping",
        "Our password is {}.", "the password is: `{}`", "Das Passwort ist {}, sagt er", "密码是{}。",
        "password,{}", "user,x\npassword,{}\nz,1", '"db_password","{}"',
    ],
)  # fmt: skip
def test_f44_passwords_in_the_words_and_commands_around_them(form: str, password: str) -> None:
    assert redact(form.format(password)).text == form.format("[redacted:password]")


@pytest.mark.parametrize("name", ["AWS_SECRET_ACCESS_KEY", "aws_secret_access_key", "SecretAccessKey"])
@pytest.mark.parametrize(
    "form", ["{}: {}", "{}={}", "- {}: {}", "{} = {}", "  {}: '{}'", "**{}**: `{}`", '"{}": "{}"']
)
@pytest.mark.parametrize("secret", ["cJalrXUtnFEMI/K7MD" + "ENG/bPxRfiCYzzzzzzzzKEY", "a1B/c2D+" * 5])
def test_f44_keys_with_slashes_in_them(name: str, form: str, secret: str) -> None:
    redacted = redact(form.format(name, secret)).text
    assert redacted in (form.format(name, f"[redacted:{kind}]") for kind in ("api-key", "secret"))


@pytest.mark.parametrize(
    "phrase", ["correct horse battery", "correct horse battery staple", "purple 7 monkeys run"]
)
@pytest.mark.parametrize("form", ['DB_PASS="{}"', "export DB_PASSWORD='{}'", 'db_pass = "{}"', 'passphrase="{}"'])
def test_f44_passphrases_of_several_words(form: str, phrase: str) -> None:
    assert redact(form.format(phrase)).text == form.format("[redacted:password]")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("JWT_SECRET={}", "secret"), ('export SESSION_SECRET="{}"', "secret"), ("NEXTAUTH_SECRET='{}'", "secret"),
        ("APP_SECRET_KEY={}", "secret"),
    ],
)  # fmt: skip
def test_f44_secrets_that_somebody_made_of_words(text: str, kind: str) -> None:
    assert redact(text.format("my-super-secret-u")).text == text.format(f"[redacted:{kind}]")


@pytest.mark.parametrize("form", ["SENTRY_AUTH={}", "_auth={}", 'NPM_AUTH="{}"'])
def test_f44_values_of_auth_settings(form: str) -> None:
    assert redact(form.format(made(32))).text == form.format("[redacted:token]")


ORDINARY = """
machine learning password policies of 2024
machine <host> login <user> password <password>
mysql -p
mysql -u root -p shop
mysql -p$MYSQL_PASSWORD shop
docker run --name mysql -p3306:3306 -d mysql
docker run mysql -p 3306:3306
The password is SHA256-hashed before it is stored
The password is required and stored
Your password is at least 8characters long
password is base64-encoded
password,email
username,password
INVALID_PASSWORD="Password is invalid"
ASK_PASSWORD="Enter your new one"
LABEL_PASSWORD="Type it in again"
"password": "Mot de passe"
password = "Two words"
JWT_SECRET=your-super-secret-key
JWT_SECRET=$(openssl rand -hex 32)
JWT_SECRET=changeme-in-production
JWT_SECRET=os.environ.jwt
IMAGE_PULL_SECRET=reg-cred-prod
jwt_secret: my-super-secret-u
USE_AUTH=true
secret: src/Models/User2/Token/Loader/Base
password: required
Password must contain at least 8 characters
password = getpass()
password=os.environ["DB_PASSWORD"]
DB_PASSWORD=${DB_PASSWORD}
API_KEY=your-api-key-here
token = get_token_from_header(request)
"type": "password"
token: string
max_tokens: 4096
next_page_token = response.next_page_token
primary_key=True
foreign_key: user_id_2
api_key = config["api_key"]
api_key = settings.OPENAI_API_KEY
API_KEY=<your key>
password: "changeme"
password: ********
secret: my-secret-name-1
"password": "Password"
mailto:john.doe@example.com
Contact:bob@example.com
npm:lodash@4.17.21
git@github.com:org/repo.git
ssh://git@github.com/org/repo
nginx:1.25@sha256:abcdef0123456789
https://example.com/a:b@c
the disk-usage-report-2024-final-version-v2 file
task-1234567890abcdef1234
risk-assessment-2024-q3-final
sk-learn-notes-and-tutorials-2024
Bearer authentication is used
The token: it was stolen
secret santa: friday
12:30@office
passed: 12 tests
"keyword": "abc123def456ghi789"
monkey: 12345678abcdefgh
token == "abc123def456ghi789"
fn(token, key=lambda x: x)
KEY=value1
uuid: 123e4567-e89b-12d3-a456-426614174000
commit 3f2a9c0d1e2b3c4d5e6f708192a3b4c5d6e7f809
postgres://${USER}:${PASS}@host/db
postgres://user:<password>@host/db
https://用户名:密码@example.com
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
password: [redacted:password]
""".strip().split("\n")


@pytest.mark.parametrize("line", ORDINARY)
def test_ordinary_lines_stay_as_they_are(line: str) -> None:
    redacted = redact(line)
    assert (redacted.text, redacted.counts) == (line, {})


def test_false_marks_over_real_documents_stay_at_none() -> None:
    """Measured over 175 files of real notes, chats, logs, code and sessions: none; so none here."""
    texts = [
        path.read_text(encoding="utf-8")
        for path in sorted(DATA.rglob("*"))
        if path.suffix
        in (".md", ".json", ".jsonl", ".vtt", ".srt", ".txt", ".py", ".html", ".log", ".rst", ".ipynb")
        and "redaction" not in path.parts
        and "encodings" not in path.parts
    ]
    assert len(texts) > 20
    assert [redact(text).counts for text in texts if redact(text).counts] == []
    parts = [part for text in texts for part in text.split("\n\n")]
    assert [part for part in parts if redact_disguised(part).counts] == []


def test_counts_are_of_new_marks_by_kind() -> None:
    text = f"[redacted:password] {TOKEN_FORMS['github-token']} {TOKEN_FORMS['github-token fine']} PASSWORD=hunter2"
    assert redact(text).counts == {"github-token": 2, "password": 1}


def test_long_values_go_whole() -> None:
    for form in ('password = "{}"', "PASSWORD={}", "API_KEY={}", "curl -u me:{} x", "x://u:{}@h"):
        secret = made(900)
        assert secret[-20:] not in redact(form.format(secret)).text


def test_a_letter_that_grows_when_made_small_moves_nothing() -> None:
    assert redact("İİİ PASSWORD=hunter2 İ").text == "İİİ PASSWORD=[redacted:password] İ"


HOSTILE = [
    "sk-", "-eyJ", "eyJ", "a", "+", " ", "\\", "\n", "-----BEGIN PRIVATE KEY-----", "://", "://a:", ":", "@",
    "a:b@",
    "password:", "password='", 'password: "', "curl ", "curl -u", "token=", "--", "--password ", "</td><td>",
    "password\n",
    "[redacted:", "Private-Lines: 9\n", "token: a1b2c3d4 ", "user:pass1@h ",
    "-----BEGIN PRIVATE KEY-----" + " " * 50,
    *sorted({pattern.keyword for pattern in (*TOKENS, *BEFORE_TOKENS, *WORDINGS, *COMMANDS)})[::7],
    "docker login -p ", " -pass pass:", "7z -p", "htpasswd -b a b ", "from-literal=token", "Cookie: a=b; ",
    "net use /user:a ", '"auth": "', "echo a | ", "psql password=", "mysql \\\n",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("start", ["", "-----BEGIN PRIVATE KEY-----", "curl -u a:"])
def test_no_text_makes_it_slower_than_its_length(start: str, unit: str) -> None:
    """Four times the text takes about four times as long; a search that goes back over itself takes sixteen."""

    def seconds(length: int) -> float:
        text = start + unit * (length // len(unit))
        taken = []
        for _ in range(3):
            begun = time.process_time()
            redact(text)
            taken.append(time.process_time() - begun)
        return min(taken)

    small, large = seconds(6_000), seconds(24_000)
    assert large < 0.01 or large < 11 * small
