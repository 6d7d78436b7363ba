"""A sync report as lines for people: pure functions of the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memu.cli.damage import describe_damaged
from memu.cli.output import Line
from memu.records import FileProblem, SyncPlan, SyncReport, Usage

__all__ = ["SHOWN_AT_MOST", "describe_plan", "describe_sync", "describe_usage", "grouped_problems"]

SHOWN_AT_MOST = 12
"""Names shown of one sort; ``--json`` has all."""


def describe_sync(report: SyncReport) -> Iterator[Line]:
    """First how memory was made, then counts, what changed, what was left out and why."""
    yield f"extractor {report.extractor} · encoder {report.encoder or 'none (words only)'}", "dim"
    yield f"{report.workspace}: {_sources(report)}", "bold"
    yield from _pages(report)
    yield from _problems("skipped", _of_the_user(report.skipped), "yellow")
    yield from _problems("failed", report.failed, "red")
    yield from _problems("damaged", describe_damaged(report.damaged), "yellow")
    yield from _problems("done without the model", report.unpatched, "yellow")
    if report.waiting:
        waiting = "1 file waits" if len(report.waiting) == 1 else f"{len(report.waiting)} files wait"
        yield f"{waiting} for the next sync: the cap was reached", "yellow"
    if report.unplaced:
        unplaced = "1 entry is" if report.unplaced == 1 else f"{report.unplaced} entries are"
        yield f"{unplaced} on no page yet; the next sync goes on", "yellow"
    if report.dropped:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(report.dropped.items()))
        yield f"the model said {sum(report.dropped.values())} things that its sources do not: {reasons}", "dim"
    if report.redactions:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(report.redactions.items()))
        count = sum(report.redactions.values())
        yield f"redacted {count} secret{'s' if count > 1 else ''}: {kinds}", "yellow"
    if report.vectors_missing:
        missing = report.vectors_missing
        told = (
            "1 passage has no vector yet; words find it"
            if missing == 1
            else f"{missing} passages have no vector yet"
        )
        yield told if missing == 1 else f"{told}; words find them", "yellow"
    if report.degraded:
        yield f"degraded: {report.degraded}", "yellow"
    if report.export:
        yield from _kept(report.export.kept)
        yield f"pages lie in {report.export.tree}", ""


def describe_plan(plan: SyncPlan) -> Iterator[Line]:
    """What a sync would do."""
    yield f"extractor {plan.extractor} · encoder {plan.encoder or 'none (words only)'}", "dim"
    yield f"{plan.workspace}: a sync would find {plan.unchanged} unchanged; nothing was written", "bold"
    yield from _listed("added", plan.added, "+ ", "green")
    yield from _listed("modified", plan.modified, "~ ", "cyan")
    yield from _listed("tried again", plan.retried, "~ ", "cyan")
    yield from _listed("moved", [f"{old} → {new}" for old, new in plan.moved], "→ ", "cyan")
    yield from _listed("deleted", plan.deleted, "- ", "red")
    yield from _listed("page touched" if len(plan.pages) == 1 else "pages touched", plan.pages, "~ ", "cyan")
    yield from _problems("skipped", _of_the_user(plan.skipped), "yellow")
    yield from _problems("failed", plan.failed, "red")
    texts = "1 text" if plan.encoder_texts == 1 else f"{plan.encoder_texts} texts"
    yield f"about {texts} to encode ({plan.encoder_tokens} tokens){_calls(plan)}", ""


def _calls(plan: SyncPlan) -> str:
    if not plan.model_calls:
        return ", no model calls"
    steps = ", ".join(f"{step} {count}" for step, count in plan.calls_by_step.items() if count)
    likely = f"about {plan.likely_calls} model calls ({plan.prompt_tokens} tokens of prompts)"
    return f"; {likely}, at most {plan.model_calls} ({steps})"


def _listed(what: str, names: Sequence[str], mark: str, style: str) -> Iterator[Line]:
    if names:
        yield f"{len(names)} {what}", "bold"
        yield from _names(names, mark, style)


def grouped_problems(problems: Iterable[FileProblem]) -> dict[str, list[str]]:
    """Paths by reason, the most frequent reason first."""
    groups: dict[str, list[str]] = {}
    for problem in problems:
        groups.setdefault(problem.reason, []).append(problem.path)
    return dict(sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])))


def _sources(report: SyncReport) -> str:
    counts = {
        "added": len(report.added),
        "modified": len(report.modified),
        "moved": len(report.moved),
        "deleted": len(report.deleted),
    }
    told = [f"{count} {what}" for what, count in counts.items() if count]
    return ", ".join([*told, f"{report.unchanged} unchanged"]) + _cost(report.usage)


def describe_usage(usage: Usage) -> str:
    """The calls of models, the encoder's among them, and what they came to."""
    calls = f"{'' if usage.texts else 'model '}call{'s' * (usage.calls != 1)}"
    tokens = usage.prompt_tokens + usage.completion_tokens
    told = [f"{usage.calls} {calls}"]
    told += [f"{usage.texts} text{'s' * (usage.texts != 1)} encoded"] if usage.texts else []
    told += [f"{tokens} tokens"] if tokens or not usage.texts else []
    return ", ".join([*told, f"{usage.cost:.4f} USD"] if usage.cost else told)


def _cost(usage: Usage) -> str:
    return f" ({describe_usage(usage)})" if usage.prompt_tokens + usage.completion_tokens else ""


def _pages(report: SyncReport) -> Iterator[Line]:
    changes = report.pages
    if report.resumed:
        written = len(report.export.written) if report.export else 0
        files = "file" if written == 1 else "files"
        yield f"an interrupted sync was finished; {written} {files} published", "bold"
    if report.resumed and not (changes.created or changes.changed or changes.removed):
        return
    if not (changes.created or changes.changed or changes.removed):
        yield "pages: nothing changed", ""
        return
    yield (
        f"pages: {len(changes.created)} new, {len(changes.changed)} changed, {len(changes.removed)} gone",
        "bold",
    )
    yield from _names(changes.created, "+ ", "green")
    yield from _names(changes.changed, "~ ", "cyan")
    yield from _names(changes.removed, "- ", "red")


def _names(names: Sequence[str], mark: str, style: str) -> Iterator[Line]:
    for name in names[:SHOWN_AT_MOST]:
        yield f"  {mark}{name}", style
    if len(names) > SHOWN_AT_MOST:
        yield f"  {mark}{len(names) - SHOWN_AT_MOST} more (--json lists all)", style


def _of_the_user(skipped: Sequence[FileProblem]) -> list[FileProblem]:
    """Without memu's own store and tree, which nobody expects to be read (``--json`` lists them)."""
    return [problem for problem in skipped if not problem.reason.startswith("memu's own")]


def _problems(what: str, problems: Sequence[FileProblem], style: str) -> Iterator[Line]:
    if not problems:
        return
    yield f"{what} {len(problems)}:", style
    groups = grouped_problems(problems)
    for reason, paths in list(groups.items())[:SHOWN_AT_MOST]:
        more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
        yield f"  {reason}: {', '.join(paths[:3])}{more}", ""
    if len(groups) > SHOWN_AT_MOST:
        yield f"  and {len(groups) - SHOWN_AT_MOST} more reasons (--json lists all)", ""


def _kept(paths: Sequence[str]) -> Iterator[Line]:
    if paths:
        named = ", ".join(paths[:SHOWN_AT_MOST])
        yield f"your own files stay, memu's went beside them as x.memu.md: {named}", "yellow"
