"""``memu steps``: every workflow as a table, read from the workflows themselves."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click

from memu.cli.output import console, write_json, write_text

__all__ = ["StepRow", "as_markdown", "step_rows", "steps"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """One step: the fields it reads and writes in the order of the state, and what it does in a line."""

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    doc: str


@click.command("steps")
@click.argument("name", required=False)
@click.option("--markdown", is_flag=True, help="As Markdown tables.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def steps(name: str | None, markdown: bool, as_json: bool) -> int:
    """The steps of the workflow NAME, or of every workflow. A step can be replaced by its name."""
    workflows = asyncio.run(_workflows(name))
    tables = {workflow.name: step_rows(workflow) for workflow in workflows}
    if as_json:
        listed = {title: [dataclasses.asdict(row) for row in rows] for title, rows in tables.items()}
        write_json({"schema": 1, "workflows": listed})
    elif markdown:
        write_text("\n\n".join(as_markdown(title, rows) for title, rows in tables.items()))
    else:
        _print_tables(tables)
    return 0


def step_rows(workflow: Any) -> tuple[StepRow, ...]:
    """The table of a workflow."""
    order = [item.name for item in dataclasses.fields(workflow.state_type)]
    return tuple(
        StepRow(
            name=step.name,
            reads=tuple(sorted(step.reads, key=order.index)),
            writes=tuple(sorted(step.writes, key=order.index)),
            doc=_doc_of(step.run),
        )
        for step in workflow.steps
    )


def as_markdown(title: str, rows: Iterable[StepRow]) -> str:
    """A heading and a table."""
    head = [f"### {title}", "", "| step | reads | writes | what it does |", "| --- | --- | --- | --- |"]
    body = ["| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |" for cells in _cells(rows)]
    return "\n".join([*head, *body])


async def _workflows(name: str | None) -> Sequence[Any]:
    from memu import MemoryService

    async with MemoryService.open("sqlite://", encoder=None) as memu:
        return [memu.workflow(name) for name in ([name] if name else memu.workflow_names)]


def _doc_of(run: Any) -> str:
    """The first sentence of a step's own docstring, wherever its callable keeps it."""
    described = run if inspect.isroutine(run) else type(run)
    lines = (inspect.getdoc(described) or "").split("\n\n")[0].splitlines()
    return " ".join(line.strip() for line in lines)


def _print_tables(tables: dict[str, tuple[StepRow, ...]]) -> None:
    from rich.table import Table

    screen = console()
    for title, rows in tables.items():
        table = Table("step", "reads", "writes", "what it does", title=title, title_justify="left")
        for cells in _cells(rows):
            table.add_row(*cells)
        screen.print(table)


def _cells(rows: Iterable[StepRow]) -> Iterator[tuple[str, str, str, str]]:
    for row in rows:
        yield row.name, ", ".join(row.reads), ", ".join(row.writes), row.doc
