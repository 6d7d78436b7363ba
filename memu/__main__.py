"""``python -m memu``: the command line, for jobs that name the interpreter."""

from __future__ import annotations

from memu.cli import main

if __name__ == "__main__":
    main()
