"""F44: passwords in statements of databases and tokens in the place of a user; what looks alike stays."""

from __future__ import annotations

import json

import pytest

from memu.ingest.redact import redact

pytestmark = pytest.mark.unit

SECRET = "Zx9kLmQ2wV7bN4tR8sJd"
GONE = [
    "ALTER USER app WITH PASSWORD '{}'",
    "CREATE ROLE app LOGIN PASSWORD '{}';",
    "psql -c \"ALTER USER app WITH PASSWORD '{}'\"",
    "CREATE USER 'a'@'%' IDENTIFIED BY '{}';",
    'CREATE USER a IDENTIFIED BY "{}"',
    "SET PASSWORD FOR a IDENTIFIED BY PASSWORD '{}'",
    "git remote set-url origin https://{}@github.com/x/y.git",
    "echo 'ann:{}' | chpasswd",
    "echo ann:{} | sudo chpasswd",
    "db.example.com:5432:mydb:app:{}",
    "stringData:\n  password: |-\n    {}\n  user: ann",
    "apiToken: >-\n  {}\nnext: 1",
    "pip install --index-url https://{}@pypi.example.org/simple x",
]
STAYS = [
    "ALTER USER app WITH PASSWORD '<password>'",
    "CREATE USER a IDENTIFIED BY '$PASSWORD'",
    "echo 'ann:$PASS' | chpasswd",
    "localhost:5432:mydb:app:*",
    "description: |-\n  The password is asked for.",
    "password: |\n  ${PASSWORD}\n",
    "token: |\n  The token is asked for once.\n",
    "IDENTIFIED BY the name on its cover",
    "PASSWORD 'must not be empty'",
    "git clone https://alice@github.com/x/y",
    "see https://a-long-name-of-somebody-else@example.org",
    "ssh://git@github.com/x",
]


@pytest.mark.parametrize("form", GONE)
@pytest.mark.parametrize("wrapped", [str, json.dumps])
def test_it_goes(form: str, wrapped: type[str]) -> None:
    redacted = redact(wrapped(form.format(SECRET)))
    assert SECRET not in redacted.text
    assert sum(redacted.counts.values()) == 1


@pytest.mark.parametrize("text", STAYS)
def test_what_looks_alike_stays(text: str) -> None:
    assert redact(text).text == text
