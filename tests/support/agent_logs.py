"""Logs of an agent as they may come: with repeats, stops, notes, titles and lines that are no record."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

__all__ = ["logs", "record"]

KINDS = ("ask", "say", "end", "call", "result", "fail", "stop", "note", "title", "again", "broken", "plan")
WORDS = st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=300)


def record(kind: str, number: int, content: Any, **more: Any) -> str:
    message = {"role": kind, "content": content, "stop_reason": more.pop("stop", None)}
    stamp = f"2026-03-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
    return json.dumps({"type": kind, "uuid": f"u{number}", "timestamp": stamp, "message": message, **more})


@st.composite
def logs(draw: st.DrawFn) -> list[str]:
    """Lines of a log of Claude Code, with repeats, stops, notes, titles and lines that are none."""
    lines: list[str] = [record("user", 0, "begin")]
    calls = 0
    for number in range(1, draw(st.integers(0, 25))):
        kind = draw(st.sampled_from(KINDS))
        if kind == "ask":
            lines.append(record("user", number, draw(WORDS)))
        elif kind in ("say", "end"):
            part = {"type": "text", "text": draw(WORDS)}
            lines.append(record("assistant", number, [part], stop="end_turn" if kind == "end" else None))
        elif kind == "call":
            calls += 1
            part = {"type": "tool_use", "id": f"c{calls}", "name": "Bash", "input": {"command": draw(WORDS)}}
            lines.append(record("assistant", number, [part]))
        elif kind in ("result", "fail"):
            part = {"type": "tool_result", "tool_use_id": f"c{calls}", "content": draw(WORDS)}
            lines.append(record("user", number, [part | {"is_error": kind == "fail"}]))
        elif kind == "stop":
            lines.append(record("user", number, "[Request interrupted by user]"))
        elif kind == "note":
            lines.append(record("user", number, draw(WORDS), isCompactSummary=True))
        elif kind == "title":
            leaf = f"u{draw(st.integers(0, number))}"
            lines.append(json.dumps({"type": "summary", "summary": draw(WORDS), "leafUuid": leaf}))
        elif kind == "again":
            lines.append(draw(st.sampled_from(lines)))
        elif kind == "plan":
            todos = [{"content": draw(WORDS), "status": draw(st.sampled_from(["completed", "pending"]))}]
            part = {"type": "tool_use", "id": f"p{number}", "name": "TodoWrite", "input": {"todos": todos}}
            lines.append(record("assistant", number, [part]))
        else:
            lines.append("{broken")
    return lines
