"""What in a mail is not its writer's: earlier mails quoted below or between, forwarded ones, and signatures.

They stay searchable and become no memory of the writer: what was quoted was said by somebody else, most often
in a mail that is read by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memu.ingest.document import Block, BlockKind
from memu.ingest.readers.runs import NumberedLine, keep, replace_text, spread

__all__ = ["QUOTED", "cut_quoted", "quote_lines", "set_quotes_apart"]

QUOTED = "quoted"
"""The place of what the writer did not write; it keeps passages of both apart."""

# "On 4 Mar 2024, Ann wrote:" as mail programs put it in front of what they quote; a date or address is in it.
_ATTRIBUTION = re.compile(
    r"(?:On|Am|El|Le|Il|Em|Op|Den)\s(?=[^\n]{0,300}[\d@])[^\n]{4,300}\s(?:wrote|schrieb|escribió|a écrit"
    r"|ha scritto|escreveu|schreef|skrev)\b[^\n:]{0,120}:|[^\n]{4,200}(?:写道|寫道)\s?[:：]"
)
_OPENING = re.compile(r"(?:On|Am|El|Le|Il|Em|Op|Den)\s[^\n]{0,200}[\d@]")
_DIVIDER = re.compile(
    r"\W{0,3}[-_]{3,}\s*(?:original message|ursprüngliche nachricht|originalnachricht|mensaje original"
    r"|message d'origine|forwarded message|weitergeleitete nachricht|mensaje reenviado|原始邮件|转发的邮件"
    r"|begin forwarded message)\s*[-_]{3,}|begin forwarded message:",
    re.IGNORECASE,
)
# The headers that Outlook writes above what it quotes: who, when, to whom, about what.
_HEADERS = re.compile(
    r"[*_ ]{0,3}(?:(from|von|de|发件人|寄件者)"
    r"|(sent|date|gesendet|datum|enviado(?: el)?|fecha|发送时间|日期|寄件日期)"
    r"|(to|an|para|收件人|收件者)|(cc|kopie)|(subject|betreff|asunto|主题|主旨))[*_ ]{0,3}[:：]",
    re.IGNORECASE,
)
_LEAST_HEADERS = 3
_HEADER_REACH = 6
_LONGEST_SIGNATURE = 15
_SIGNED = re.compile(r"--\s?")


def cut_quoted(run: Sequence[NumberedLine]) -> Iterator[tuple[bool, list[NumberedLine]]]:
    """The lines of a plain text in stretches: the writer's own (True), and others (False), in order."""
    held: list[NumberedLine] = []
    own = True
    for is_own, line in _tell(run):
        if is_own is not own and line.text.strip():
            if held:
                yield own, held
            held, own = [], is_own
        held.append(line)
    if held:
        yield own, held


def quote_lines(run: Sequence[NumberedLine]) -> list[Block]:
    """What the writer did not write as blocks that are searched and never learned from."""
    plain = [replace_text(line, line.text.lstrip("> ")) for line in run]
    return spread(Block(kind=BlockKind.DATA, text="", lines=None, place=QUOTED), keep(plain))


def set_quotes_apart(blocks: Sequence[Block]) -> list[Block]:
    """The blocks of a page, those that its writer did not write made such as :func:`quote_lines` makes."""
    apart: list[Block] = []
    rest = False
    for at, block in enumerate(blocks):
        following = blocks[at + 1].kind if at + 1 < len(blocks) else None
        attributed = _ATTRIBUTION.fullmatch(block.text) is not None
        rest = rest or _ends_writing(block.text) or (attributed and following is not BlockKind.QUOTE)
        if rest or attributed or block.kind is BlockKind.QUOTE:
            block = replace(
                block, kind=BlockKind.DATA, heading=(), parent=None, number=None, depth=0, place=QUOTED
            )
        apart.append(block)
    return apart


def _ends_writing(text: str) -> bool:
    """Whether from this block of a page on nothing is the writer's."""
    if _SIGNED.fullmatch(text) or _DIVIDER.match(text):
        return True
    first = _HEADERS.match(text)
    names = {match.lastindex for match in _HEADERS.finditer(text[:1_000])} if first is not None else set()
    return first is not None and first.lastindex == 1 and len(names) >= _LEAST_HEADERS


def _tell(run: Sequence[NumberedLine]) -> Iterator[tuple[bool, NumberedLine]]:
    """Each line, and whether the writer wrote it."""
    at = 0
    while at < len(run):
        text = run[at].text
        if text.startswith(">"):
            yield False, run[at]
        elif _SIGNED.fullmatch(text) and (end := _end_signature(run, at)) > at:
            yield from ((False, line) for line in run[at:end])
            at = end - 1
        elif taken := _count_attribution(run, at):
            following = next((line.text for line in run[at + taken :] if line.text.strip()), "")
            end = at + taken if following.startswith(">") else len(run)
            yield from ((False, line) for line in run[at:end])
            at = end - 1
        elif _DIVIDER.match(text.strip()) or _opens_headers(run, at):
            yield from ((False, line) for line in run[at:])
            return
        else:
            yield True, run[at]
        at += 1


def _end_signature(run: Sequence[NumberedLine], at: int) -> int:
    """Where the signature that begins here ends; ``at`` itself where it is a mere line of dashes."""
    end = at + 1
    while end < len(run) and not run[end].text.startswith(">") and not _count_attribution(run, end):
        end += 1
    # Without the space that is its mark, only what is short and last is one.
    return end if run[at].text != "--" or end - at <= _LONGEST_SIGNATURE else at


def _count_attribution(run: Sequence[NumberedLine], at: int) -> int:
    """How many lines the words take that introduce a quoted mail here; 0 where there are none."""
    text = run[at].text.strip()
    if _ATTRIBUTION.fullmatch(text):
        return 1
    if not _OPENING.match(text):
        return 0
    for count in (2, 3):
        joined = " ".join(line.text.strip() for line in run[at : at + count])
        if len(joined) < 500 and _ATTRIBUTION.fullmatch(joined):
            return count
    return 0


def _opens_headers(run: Sequence[NumberedLine], at: int) -> bool:
    first = _HEADERS.match(run[at].text)
    if first is None or first.lastindex != 1:
        return False
    found = (_HEADERS.match(line.text) for line in run[at : at + _HEADER_REACH])
    return len({match.lastindex for match in found if match is not None}) >= _LEAST_HEADERS
