"""Sync a folder, read a page, ask a question: memu from Python, in one file.

    python examples/quick_start.py [FOLDER]

Without FOLDER it works on a copy of examples/workspace in a temporary folder.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

from memu import MemoryService

EXAMPLE = Path(__file__).parent / "workspace"


async def show(folder: Path) -> None:
    # The store is .memu/memu.sqlite3 in the folder; nothing leaves this machine.
    async with MemoryService.open(folder=folder) as memu:
        report = await memu.memorize_workspace(folder)
        print(f"{len(report.added)} sources added, {len(report.failed)} failed, by {report.extractor} extraction")
        for page in report.pages.created:
            print(f"  new page: {page}")

        result = await memu.retrieve_workspace("how long does a customer have to fetch a parcel", max_hits=3)
        for hit in result.hits:
            print(f"\n{hit.title} ({hit.path or hit.track}, {hit.lines or 'whole'})\n  {hit.text}")


def main() -> None:
    if len(sys.argv) > 1:
        asyncio.run(show(Path(sys.argv[1])))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "lantern"
        shutil.copytree(EXAMPLE, folder)
        asyncio.run(show(folder))


if __name__ == "__main__":
    main()
