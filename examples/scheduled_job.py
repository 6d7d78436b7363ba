"""An unattended sync for cron or a systemd timer, with the blocking SDK.

    python examples/scheduled_job.py FOLDER [FOLDER ...]

A crontab line, every quarter of an hour:

    */15 * * * * /opt/memu/bin/python /opt/memu/scheduled_job.py /srv/notes

Exit codes are those of `memu sync`: 0 all done, 1 some files failed, 3 another sync is running, 4 a folder or the
store is unavailable. Of several folders the highest code wins; one that fails does not keep the others waiting.
"""

from __future__ import annotations

import sys
from pathlib import Path

from memu import MemuError
from memu.sync import MemoryService


def sync_folder(folder: Path) -> int:
    try:
        with MemoryService.open(folder=folder) as memu:
            report = memu.memorize_workspace(folder)
    except MemuError as error:
        print(f"{folder}: {error}", file=sys.stderr)
        return error.exit_code
    for problem in report.failed:
        print(f"{folder}: {problem.path}: {problem.reason}", file=sys.stderr)
    changes = {"new": report.pages.created, "changed": report.pages.changed, "gone": report.pages.removed}
    if any(changes.values()):
        print(f"{folder}: pages " + ", ".join(f"{len(names)} {what}" for what, names in changes.items()))
    return 0 if report.ok else 1


def main() -> int:
    folders = [Path(argument) for argument in sys.argv[1:]]
    if not folders:
        print(__doc__, file=sys.stderr)
        return 2
    return max(sync_folder(folder) for folder in folders)


if __name__ == "__main__":
    raise SystemExit(main())
