"""What programs put into a session beside what was said: told by its form, never by what it says."""

from __future__ import annotations

import re

__all__ = ["TAIL_WINDOW", "cut_noise", "cut_prompt", "keep_tail"]

# An editor, a harness or a shell wraps these around what nobody said.
_WRAPPED = re.compile(
    r"<(system-reminder|environment_context|environment_details|user_instructions|INSTRUCTIONS|ide_opened_file"
    r"|ide_selection|ide_diagnostics|ide_context|local-command-caveat|local-command-stdout|local-command-stderr"
    r"|command-name|command-message|command-args|command-contents|bash-input|bash-stdout|bash-stderr"
    r"|user-prompt-submit-hook|turn_aborted|permissions instructions|collaboration_mode|skills_instructions"
    r"|task-notification|user_shell_command|subagent_notification|session_context|hook_context|state_snapshot)>"
)
_WHOLE = re.compile(r"\s*<([a-z][\w-]{2,40})>.*</\1>\s*", re.DOTALL)
_IDE = "# Context from my IDE setup:"
_REQUEST = re.compile(r"^## My request for Codex:?[ \t]*$", re.MULTILINE)
_RULES = re.compile(r"# AGENTS\.md instructions for [^\n]*\n\s*(?=<INSTRUCTIONS>)")
_LONGEST_WORD = 240
_BASE64 = re.compile(r"(?:data:[\w.+-]{1,60}/[\w.+-]{1,60};base64,)?[A-Za-z0-9+/_-]{240,}={0,2}")
_TAIL_LINES = 12
_TAIL_CHARS = 1_000
TAIL_WINDOW = 4 * _TAIL_CHARS
"""So many characters at the end of an output are looked at."""


def cut_prompt(text: str) -> list[str]:
    """What a person wrote of a message in their name; text that is one element whole comes from a program."""
    if text.startswith(_IDE):
        requests = list(_REQUEST.finditer(text))
        text = text[requests[-1].end() :] if requests else ""
    return [] if _WHOLE.fullmatch(text) else cut_noise(text)


def cut_noise(text: str) -> list[str]:
    """What is left of a text, as pieces that each stand in it verbatim."""
    pieces: list[str] = []
    for part in _between(text, _find_wrapped(text)):
        pieces += [piece.strip() for piece in _split_base64(part)]
    return [piece for piece in pieces if piece]


def keep_tail(text: str) -> str:
    """The last twelve lines of an output, 1,000 characters at most, runs of base64 and blank ends left out."""
    end = text.rstrip()[-TAIL_WINDOW:]
    parts = [part.strip("\n").rstrip() for part in _split_base64(end)]
    lines = next((part for part in reversed(parts) if part.strip()), "").split("\n")[-_TAIL_LINES:]
    while len(lines) > 1 and sum(map(len, lines)) + len(lines) > _TAIL_CHARS:
        lines = lines[1:]
    kept = "\n".join(lines)
    if len(kept) <= _TAIL_CHARS:
        return kept
    cut = kept[-_TAIL_CHARS:]
    return cut.partition(" ")[2] or cut


def _split_base64(text: str) -> list[str]:
    """The text around its runs of base64. Few texts have a word so long, and to see that is quick."""
    return _BASE64.split(text) if max(map(len, text.split()), default=0) >= _LONGEST_WORD else [text]


def _find_wrapped(text: str) -> list[tuple[int, int]]:
    """Where wrapped parts begin and end, in order. One that is not closed is none; linear in the text."""
    found: list[tuple[int, int]] = []
    open_ended: set[str] = set()
    at = 0
    while match := _WRAPPED.search(text, at):
        at = match.end()
        if match[1] in open_ended:
            continue
        mark = f"</{match[1]}>"
        end = text.find(mark, at)
        if end < 0:
            open_ended.add(match[1])
            continue
        rules = _RULES.search(text[max(0, match.start() - 500) : match.end()])
        start = match.start() if rules is None else max(0, match.start() - 500) + rules.start()
        at = end + len(mark)
        found.append((start, at))
    return found


def _between(text: str, gaps: list[tuple[int, int]]) -> list[str]:
    parts: list[str] = []
    at = 0
    for start, end in gaps:
        parts.append(text[at:start])
        at = end
    return [*parts, text[at:]]
