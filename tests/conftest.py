"""What every test stands on: no setting of the person who runs them reaches memu."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says how busy the machine is, and nothing of memu.
settings.register_profile("memu", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("memu")

for _name in [name for name in os.environ if name.startswith(("MEMU_", "OPENAI_"))]:
    # MEMU_TEST_… says how much the tests are to try.
    if not _name.startswith("MEMU_TEST_"):
        del os.environ[_name]
os.environ["MEMU_CONFIG"] = ""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The counts that tests recorded of themselves: crash points, kills, examples."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    counts = [(report.nodeid, *each) for report in reports for each in getattr(report, "user_properties", ())]
    if counts:
        terminalreporter.section("counts")
        for nodeid, name, value in sorted(counts):
            terminalreporter.write_line(f"{nodeid.rsplit('::', 1)[-1]}: {name} {value}")
