"""The command line. Nothing heavy is loaded before a command runs."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """The console script: run the command that the arguments name and exit with its code."""
    _open_streams()
    from memu.cli.app import run

    raise SystemExit(run(sys.argv[1:]))


def _open_streams() -> None:
    """Put nothing in the place of standard streams that whoever called us has closed.

    Else there is nothing to print to, and the store, opened next, would be what C code writes its messages into.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is this one.
            os.open(os.devnull, os.O_RDWR)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
