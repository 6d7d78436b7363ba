"""The command line. Nothing heavy is loaded before a command runs."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """The console script: run the command that the arguments name and exit with its code."""
    from memu.cli.app import run

    raise SystemExit(run(sys.argv[1:]))
