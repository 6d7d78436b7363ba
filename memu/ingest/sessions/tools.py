"""What an agent does with its tools, whatever they are called: commands, files written, plans, and the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from memu.ingest.sessions.events import Event, EventKind
from memu.ingest.sessions.fields import find_lines, items_at, text_at
from memu.ingest.sessions.noise import cut_noise

__all__ = ["is_command_tool", "is_in_background", "is_refusal", "read_call", "read_exit"]

_COMMAND_TOOLS = frozenset(
    {
        *("bash", "shell", "shell_command", "exec_command", "local_shell", "run_shell_command", "run_command"),
        *("execute_command", "run_terminal_cmd", "terminal", "container.exec", "exec"),
    }
)
_WRITE_TOOLS = frozenset(
    {
        *("write", "edit", "multiedit", "notebookedit", "write_file", "replace", "edit_file", "create_file"),
        *("write_to_file", "replace_in_file", "str_replace_editor", "str_replace_based_edit_tool", "apply_patch"),
    }
)
_PLAN_TOOLS = frozenset({"todowrite", "todo_write", "update_plan", "write_todos"})
_PATHS = ("file_path", "notebook_path", "path", "filePath", "absolute_path", "target_file", "filename")
_ABOUT = ("pattern", "query", "url", *_PATHS, "description", "title", "summary", "prompt")
_STEPS = ("content", "step", "description", "title")
_VIEWS = frozenset({"view", "view_range"})
_SHELLS = re.compile(r"(?:.*[/\\])?(?:ba|z|k|da|fi)?sh(?:\.exe)?|(?:.*[/\\])?(?:pwsh|powershell|cmd)(?:\.exe)?")
_SHELL_FLAGS = frozenset({"-c", "-lc", "-ic", "-Command", "/c"})
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_EXIT = re.compile(
    r"\A\s*(?:Error:\s*)?(?:Exit code:?|Process exited with code|Command failed with exit code|exit status)\s*"
    r"(-?\d{1,6})\b",
    re.IGNORECASE,
)
_PASSED_EXIT = re.compile(r"(?:\A|\n)Process exited with code (-?\d{1,6})\b")
_REFUSED = re.compile(
    r"\s*(?:The user doesn't want to (?:proceed with this tool use|take this action)"
    r"|Permission to use .{1,300} denied|Claude requested permissions? to .{1,300} haven't granted it"
    r"|exec command rejected by user|(?:.{0,400}\b)?Rejected\(\\?\"rejected by user"
    r"|<tool_use_error>\s*(?:Sibling tool call errored|InputValidationError)|This command requires approval"
    r"|(?:patch|command|tool use|tool call) (?:was )?(?:rejected|declined|denied) by (?:the )?user)",
    re.IGNORECASE,
)
_BACKGROUND = re.compile(
    r"\s*Command (?:running in|(?:was )?(?:manually )?(?:moved to|backgrounded))", re.IGNORECASE
)
_ENDED = re.compile(
    r"(?:\A|\n)\s*(?:Exit Code|(?:Command|Process) exited with code):?\s*(-?\d{1,6})\s*\Z", re.IGNORECASE
)
_NAME = re.compile(r"[^\w.:/-]+")
_MARKS = {"completed": "[x]", "done": "[x]", "in_progress": "[~]", "cancelled": "[-]"}
_MOST_COMMAND = 2_000
_MOST_ABOUT = 300
_MOST_PLANNED = 40


def is_command_tool(name: str) -> bool:
    """Whether a tool of this name runs a command."""
    return name.lower() in _COMMAND_TOOLS


def read_exit(output: str) -> int | None:
    """The exit code that an output states in its first lines or its last, as harnesses write it."""
    match = _EXIT.match(output[:400]) or _PASSED_EXIT.search(output[:400]) or _ENDED.search(output[-200:])
    return int(match[1]) if match else None


def is_refusal(output: str) -> bool:
    """Whether an output says that a person did not let the call be made, as harnesses write it."""
    return _REFUSED.match(output[:500]) is not None


def is_in_background(output: str) -> bool:
    """Whether an output says that a command was begun and goes on: how it ends, it does not tell."""
    return _BACKGROUND.match(output[:200]) is not None


def read_call(name: str, arguments: Mapping[str, object], like: Event, raw: str = "") -> Iterator[Event]:
    """The events of one call; ``like`` gives time, call and lines.

    ``raw``: what the tool was given where that is a text and no object.
    """
    like = replace(like, tool=_NAME.sub(" ", name).strip()[:60])
    known = name.lower()
    command, where = _read_command(arguments)
    patched = _PATCHED.findall(command or raw or text_at(arguments, "input") or text_at(arguments, "patch"))
    if patched and (known == "apply_patch" or "apply_patch" in command):
        for path in dict.fromkeys(patched):
            yield replace(like, kind=EventKind.WRITE, text=path.strip(), lines=find_lines(where, like.lines))
    elif known in _COMMAND_TOOLS and command:
        kept = "\n".join(cut_noise(command))[:_MOST_COMMAND]
        yield replace(like, kind=EventKind.COMMAND, text=kept, lines=find_lines(where, like.lines))
    elif known in _PLAN_TOOLS:
        yield from _read_plan(arguments, like)
    else:
        yield _read_other(known, arguments, like, raw)


def _read_other(known: str, arguments: Mapping[str, object], like: Event, raw: str) -> Event:
    path = next((each for name in _PATHS if (each := text_at(arguments, name))), "")
    if known in _WRITE_TOOLS and path and text_at(arguments, "command") not in _VIEWS:
        return replace(like, kind=EventKind.WRITE, text=path, lines=find_lines(path, like.lines))
    about = next((each for name in _ABOUT if (each := text_at(arguments, name))), raw)
    shown = next(iter(cut_noise(about)), "")[:_MOST_ABOUT]
    return replace(like, kind=EventKind.TOOL, text=shown or like.tool, lines=find_lines(about, like.lines))


def _read_command(arguments: Mapping[str, object]) -> tuple[str, object]:
    """The command line, and the value that knows where it stands."""
    for name in ("command", "cmd", "script"):
        value = arguments.get(name)
        if isinstance(value, str):
            return value, value
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            return _join_argv(value), value[-1]
    action = arguments.get("action")
    return _read_command(action) if isinstance(action, Mapping) else ("", None)


def _join_argv(argv: Sequence[str]) -> str:
    if len(argv) > 2 and _SHELLS.fullmatch(argv[0]) and argv[-2] in _SHELL_FLAGS:
        return argv[-1]
    return " ".join(argv)


def _read_plan(arguments: Mapping[str, object], like: Event) -> Iterator[Event]:
    items = items_at(arguments, "todos") or items_at(arguments, "plan")
    lines: list[str] = []
    for item in items[:_MOST_PLANNED]:
        said = next((each for name in _STEPS if (each := text_at(item, name))), "")
        if said:
            lines.append(f"{_MARKS.get(text_at(item, 'status'), '[ ]')} {' '.join(said.split())[:_MOST_ABOUT]}")
    if lines:
        yield replace(like, kind=EventKind.PLAN, text="\n".join(lines))
