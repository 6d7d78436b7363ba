"""What the exit code of a command line proves: of a pipe that of its end, of a list that of its last member.

``make test | tail`` ends with 0 whatever the tests say. A command line teaches something only where each command
in it that changes anything is known to have worked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["proves_all", "split_steps"]

# Quotes and what redirects are no joints; an unclosed quote is a sign like any other.
_PIECE = re.compile(
    r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|\d*[<>]&[\d-]|&>>?|>\||(?P<joint>&&|\|\||\|&|[;|&\n])|[^\\'"<>;|&\n\d]+|.""",
    re.DOTALL,
)
_HERE = re.compile(r"<<-?[ \t]*(['\"]?)(?P<end>\w+)\1(?P<rest>[^\n]*)\n(?:[^\n]*\n)*?[ \t]*(?P=end)(?=\n|\Z)")
_JOINTS = {"\n": ";", "|&": "|"}
_STRICT = re.compile(r"\bset\s+-[a-z]*e|\bset\s+-o\s+errexit")
_PIPES_TOLD = re.compile(r"\bpipefail\b")


def split_steps(command: str) -> list[tuple[str, str]]:
    """The commands of a line in order, each with the joint behind it: ``&&``, ``||``, ``|``, ``;``, ``&`` or "".

    Joints in quotes are none.

    >>> split_steps("cd app && make 2>&1 | tail -n 3")
    [('cd app', '&&'), ('make 2>&1', '|'), ('tail -n 3', '')]
    """
    steps: list[tuple[str, str]] = []
    held = ""
    plain = _HERE.sub(lambda match: f"<<{match['end']}{match['rest']}", command.replace("\\\n", " "))
    for piece in _PIECE.finditer(plain):
        if piece["joint"] is None:
            held += piece[0]
        elif held.strip():
            steps.append((held.strip(), _JOINTS.get(piece[0], piece[0])))
            held = ""
    return [*steps, (held.strip(), "")] if held.strip() else steps


def proves_all(steps: Sequence[tuple[str, str]], harmless: re.Pattern[str]) -> bool:
    """Whether a line that ended with 0 shows that each of its steps worked, but for the ``harmless``."""
    written = " ; ".join(step for step, _ in steps)
    strict, piped = _STRICT.search(written) is not None, _PIPES_TOLD.search(written) is not None
    # Going back from the end: whether the list that a step is in is known to have ended with 0.
    proved = True
    for at in reversed(range(len(steps))):
        step, joint = steps[at]
        is_last, before = at == len(steps) - 1, steps[at - 1][1] if at else ""
        if joint in ("||", "&") or (joint == ";" and not (is_last or strict)):
            proved = False
        shown = proved and before != "||" and (joint != "|" or piped)
        if not shown and not harmless.match(step):
            return False
    return True
