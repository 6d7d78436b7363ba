"""``memu doctor``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import click

from memu.cli.options import Common, common_options
from memu.cli.output import Line, print_lines, write_json
from memu.records import Finding, HealthReport, Severity

__all__ = ["describe_health", "doctor"]

UNHEALTHY = 1
_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTICE: "dim"}


@click.command("doctor")
@click.option("--across", is_flag=True, help="Every scope that has the fields given by --user.")
@click.option(
    "--all",
    "thorough",
    is_flag=True,
    help="Compare every passage, probe every source, no sample; read the files once more.",
)
@common_options
def doctor(common: Common, across: bool, thorough: bool) -> int:
    """Check the store and its pages and say what is wrong and what to do; nothing is changed.

    Exit code 1 when something is wrong or left to do.
    """

    async def examine() -> HealthReport:
        async with common.open_service() as memu:
            return await memu.examine(user=common.user, across=across, thorough=thorough)

    report = asyncio.run(examine())
    if common.as_json:
        write_json(report.to_dict())
    else:
        print_lines(describe_health(report))
    return 0 if report.ok else UNHEALTHY


def describe_health(report: HealthReport) -> Iterator[Line]:
    """The findings, the worst first, then what was looked at."""
    for finding in report.findings:
        yield f"{finding.severity}: {finding.check}: {finding.subject}", _STYLES[finding.severity]
        yield f"  {finding.message}", ""
        yield f"  {finding.remedy}", "dim"
    checked = ", ".join(f"{count} {check}" for check, count in report.checked.items() if count)
    yield f"{_verdict(report.findings)} (looked at: {checked})", "bold"


def _verdict(findings: tuple[Finding, ...]) -> str:
    severities = [each.severity for each in findings]
    counts = {severity: severities.count(severity) for severity in (Severity.ERROR, Severity.WARNING)}
    told = [f"{count} {severity}{'s' if count > 1 else ''}" for severity, count in counts.items() if count]
    return ", ".join(told) or "healthy"
