"""Write the workflow tables of architecture.md anew, from the workflows as they run.

.venv/bin/python docs/workflow_tables.py
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).with_name("architecture.md")
BEGIN, END = "<!-- workflows: memu steps --markdown -->\n", "<!-- end of workflows -->"


def main() -> None:
    command = [sys.executable, "-m", "memu", "steps", "--markdown"]
    tables = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout.strip()
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{tables}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
