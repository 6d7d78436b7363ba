"""The embedded encoder keeps to itself: a search by meaning leaves nothing in the user's home and says nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memu.providers.embedded import is_installed

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not is_installed(), reason="the extra 'local' is not installed"),
]

# What would choose for the runtime, the configuration or the place of its cache is not handed on.
_CHOSEN = ("ORT_", "XDG_", "MEMU_", "HOME")
_SEARCH = """
from memu.sync import MemoryService

with MemoryService.open("sqlite://", out="pages") as memu:
    assert "MiniLM" in memu.memorize_workspace("notes").encoder
    found = memu.retrieve_workspace("when do we deploy")
    assert not found.degraded, found.degraded
    print(found.hits[0].text)
"""


@pytest.mark.parametrize("home", ["home", "file/home"], ids=["writable", "impossible"])
def test_the_embedded_encoder_touches_no_home_and_says_nothing(tmp_path: Path, home: str) -> None:
    """The runtime's telemetry would write there, look up a host, and warn where it cannot."""
    (tmp_path / "home").mkdir()
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "deploy.md").write_text("# Deploy\n\nReleases are shipped every Tuesday.\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_CHOSEN)}
    ended = subprocess.run(
        [sys.executable, "-c", _SEARCH],
        cwd=tmp_path,
        env={**environment, "HOME": str(tmp_path / home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "Tuesday" in ended.stdout
    assert not list((tmp_path / "home").iterdir())
