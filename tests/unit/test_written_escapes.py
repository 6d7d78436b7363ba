r"""F44: a token right behind an escape that is written out, as commands, logs and JSON show colours."""

from __future__ import annotations

import pytest

from memu.ingest.redact import redact

pytestmark = pytest.mark.unit

CHARACTERS = "q7Rk2mXw9ZtB4nLc8VdJ5sHy3GfP6aEuT1oK"
BEFORE = [
    r"\033[32m",
    r"\033[0;31m",
    r"\033[m",
    r"\x1b[31m",
    r"\u001b[31m",
    r"\\u001b[1;32m",
    r"\e[1m",
    "^[[32m",
    "[32m",
    "\x9b31m",
    r"\x1b[2K",
    r"\b",
    r"\a",
    r"\f",
    r"\033",
    r"\x6d",
    r"\u006d",
    r"\n",
    "%3D",
]
TOKENS = {
    "github": f"ghp_{CHARACTERS}",
    "fine-grained": f"github_pat_{CHARACTERS}",
    "aws": "AKIA" + "Q7RK2MXW9ZTB4NLC",
    "anthropic": f"sk-ant-api03-{CHARACTERS}",
    "openai": f"sk-proj-{CHARACTERS}",
    "slack": "xoxb-" + f"123456789012-{CHARACTERS}",
    "stripe": f"sk_live_{CHARACTERS[:24]}",
    "google": f"AIza{CHARACTERS}",
    "gitlab": f"glpat-{CHARACTERS[:20]}",
    "npm": f"npm_{CHARACTERS}",
    "huggingface": f"hf_{CHARACTERS}",
    "jwt": f"eyJ{CHARACTERS[:20]}.eyJ{CHARACTERS[:20]}.{CHARACTERS}",
}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
def test_f44_a_token_behind_a_written_escape_is_redacted(before: str, token: str) -> None:
    for text in (f"printf '{before}{token}\\033[0m\\n'", f"The token is {before}{token} and nothing else."):
        shown = redact(text).text
        assert token[-12:] not in shown
        assert token[:12] not in shown


@pytest.mark.parametrize(
    "text", ["The 5minute ghp_ prefix", "10m run of sk-learn-notes", r"\begin{akia}", "[3mile] AIza"]
)
def test_what_is_no_token_stays(text: str) -> None:
    assert redact(text).text == text
