"""F44, P12: a password that words follow goes as one at its line's end does, and prose about passwords stays."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memu.ingest.redact import redact
from memu.ingest.secret_values import is_said

SECRETS = [
    "Tr0ub4dor3xyz",
    "Kolibri77xQ",
    "Tr0ub4dor&3xyz",
    "Tr0ub4dor&amp;3xyz",
    "kiwi77",
    "Sommer!Nacht",
]

SENTENCES = [
    "- password: {} for the Toucan host",
    "the wifi password: {} for the guest house",
    "12/03/2024, 21:15 - Ann: wifi password: {} for the guests",
    "**Password:** {} (guest house)",
    "Passwort: {} für den Server",
    "Kennwort: {} gilt bis Montag",
    "contraseña: {} para el servidor",
    "пароль: {} для гостей",
    "密码：{} 用于客房",
    "密碼: {} 給客人",
    "口令：{}，请保密",
    "password = {} for the host",
    "password={} for the host",
    "> password: {} she wrote",
    "* pwd: {} and then press Enter",
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_f44_what_follows_a_password_saves_it_from_nothing(sentence: str, secret: str) -> None:
    redacted = redact(sentence.format(secret))
    assert redacted.text == sentence.format("[redacted:password]")
    assert redacted.counts == {"password": 1}
    assert redact(redacted.text).text == redacted.text


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_f44_so_in_the_strings_of_json(sentence: str, secret: str) -> None:
    record = {"text": sentence.format(secret), "user": "U1"}
    assert json.loads(redact(json.dumps(record, ensure_ascii=False)).text) == {
        "text": sentence.format("[redacted:password]"),
        "user": "U1",
    }


@pytest.mark.parametrize("secret", SECRETS[:3])
@pytest.mark.parametrize(
    "sentence",
    [
        "The wifi password for the guest house: {} and no other",
        "Passwort für das Gäste-WLAN: {}",
        "the contraseña para los huéspedes: {}",
        "password for the alarm: **{}**",
    ],
)
def test_f44_what_stands_between_a_password_and_its_name(sentence: str, secret: str) -> None:
    assert redact(sentence.format(secret)).text == sentence.format("[redacted:password]")


def test_f44_numbers_that_words_follow() -> None:
    assert redact("password: 48151623 for the alarm").text == "password: [redacted:password] for the alarm"


@pytest.mark.parametrize("name", ["API key", "access token", "client secret"])
def test_f44_keys_that_words_follow(name: str) -> None:
    text = redact(f"The {name}: a8Kd93kfLs02mNxQ for staging").text
    assert "a8Kd" not in text
    assert text.endswith("] for staging")


@pytest.mark.parametrize("separator", ["&", "&amp;"])
def test_a_query_goes_on_behind_its_password(separator: str) -> None:
    text = f"/login?password={{}}{separator}user=bob HTTP/1.1"
    assert redact(text.format("Tr0ub4dor3")).text == text.format("[redacted:password]")


def test_writing_without_spaces_goes_on_behind_its_password() -> None:
    assert redact("密码：Tr0ub4dor3xyz用于客房，请保密").text == "密码：[redacted:password]用于客房，请保密"


@pytest.mark.parametrize(
    "line",
    [
        "password: the one that Ann chose", "Password: see the vault", "password: required for the login",
        "Passwords: 10 of them", "Password: 12-character minimum", "Password: 12 characters at least",
        "Password: 1Password vault entry", "password: SHA256-hashed in the table", "password: string or null",
        "password: 2FA is on", "password: $PASS for the host", "password: <yours> for the host",
        "Passwort: das vom letzten Mal", "contraseña: la de siempre", "密码：8位以上字母数字组合 用于登录",
        "Password for user: bobby1234", "password for the host: see vault", "password to type: none for 2024",
        "password: str = None", "token: it was 3rd in the row", "The token: abc123 at position 4",
        "password: user.password2 or none", "password: ask Ann, she has it since 2024",
    ],
)  # fmt: skip
def test_prose_about_passwords_stays(line: str) -> None:
    assert redact(line).text == line


@given(
    st.text(st.characters(codec="ascii", categories=["L", "Nd"]), min_size=6, max_size=24),
    st.sampled_from(SENTENCES),
)
def test_f44_any_password_that_would_be_one_in_speech(secret: str, sentence: str) -> None:
    if is_said(secret):
        assert secret not in redact(sentence.format(secret)).text.replace("redacted", "")
