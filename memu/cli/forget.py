"""``memu forget``."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from memu.cli.options import Common, cap_options, common_options
from memu.cli.output import Line, print_lines, write_json
from memu.cli.report import describe_usage
from memu.records import ForgetReceipt

__all__ = ["describe_receipt", "exit_code", "forget"]

_SHOWN_AT_MOST = 12


@click.command("forget")
@click.argument("reference", required=False)
@click.option("--match", metavar="TEXT", help="Every statement that contains these words.")
@click.option("--all", "everything", is_flag=True, help="Everything of the scope.")
@click.option("--undo", metavar="PATH", help="Let a forgotten file be read again by the next sync.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option(
    "--purge", is_flag=True, help="Then rewrite the store's file, so that no byte is left (vacuum a server)."
)
@click.option("--wait", is_flag=True, help="Wait for a sync that runs.")
@cap_options
@click.option("--yes", is_flag=True, help="With --all: do not ask.")
@common_options
def forget(
    reference: str | None,
    match: str | None,
    everything: bool,
    undo: str | None,
    dry_run: bool,
    purge: bool,
    yes: bool,
    common: Common,
    **bounds: Any,
) -> int:
    """Forget what REFERENCE names, and never take it up again.

    REFERENCE is memory/NAME, skill/NAME, a source's PATH or an entry's id. The files of the folder stay as
    they are; --purge alone rewrites the store.
    """
    if sum([reference is not None, match is not None, everything, undo is not None]) > 1 or not (
        reference or match or everything or undo or purge
    ):
        raise click.UsageError("Give one of REFERENCE, --match, --all, --undo.", click.get_current_context())
    reference, undo = _from_here(reference), _from_here(undo)
    if everything and not (yes or dry_run):
        if not sys.stdin.isatty():
            raise click.UsageError("Nobody is there to ask; say --yes.", click.get_current_context())
        click.confirm("Forget everything of this scope?", abort=True, err=True)

    async def run() -> ForgetReceipt:
        async with common.open_service() as memu:
            return await memu.forget(
                reference,
                match=match,
                everything=everything,
                undo=undo,
                dry_run=dry_run,
                purge=purge,
                user=common.user,
                **bounds,
            )

    receipt = asyncio.run(run())
    if common.as_json:
        write_json(receipt.to_dict())
    else:
        print_lines(describe_receipt(receipt))
    return exit_code(receipt)


def _from_here(reference: str | None) -> str | None:
    """A path that is written from the working directory, as a whole one: others are those of a workspace."""
    if reference is not None and reference.startswith(("./", "../")):
        return os.path.normpath(Path.cwd() / reference)
    return reference


def exit_code(receipt: ForgetReceipt) -> int:
    """1 where something is still to be done, by a sync or by hand."""
    return 1 if receipt.unread or receipt.unpatched or receipt.left or receipt.unpurged else 0


def describe_receipt(receipt: ForgetReceipt) -> Iterator[Line]:
    """The receipt as lines for people."""
    if receipt.what == "purge":
        yield from _describe_purge(receipt)
        return
    if receipt.what == "undo":
        yield f"the next sync reads {', '.join(receipt.sources)} again", ""
        return
    yield _headline(receipt), "bold"
    yield from _names("", receipt.texts, "")
    yield from _names("gone: ", receipt.removed, "red")
    yield from _names("cut: ", receipt.sources, "cyan")
    yield from _names("stays, for another source says it: ", receipt.stays, "yellow")
    pages = receipt.pages
    yield from _names("page gone: ", pages.removed, "red")
    yield from _names("page changed: ", (*pages.created, *pages.changed), "cyan")
    for problem in receipt.unread:
        yield f"  cut as it was stored, not read anew: {problem.path} ({problem.reason})", "yellow"
    for problem in receipt.unpatched:
        yield f"  to be worded anew by the next sync: {problem.path} ({problem.reason})", "yellow"
    yield from _names("still says it, forget it by its id or path: ", receipt.left, "red")
    yield from _names("your own file, left as it is: ", receipt.kept_files, "yellow")
    if receipt.usage.calls or receipt.usage.unanswered:
        yield f"  {describe_usage(receipt.usage)}", ""
    yield from _describe_purge(receipt)


def _describe_purge(receipt: ForgetReceipt) -> Iterator[Line]:
    if receipt.unpurged:
        yield "forgotten, but its old bytes are not purged yet", "red"
        yield f"  {receipt.unpurged}", "yellow"
    if receipt.purged:
        yield "the store was rewritten; nothing deleted is left in its bytes", ""
    if receipt.vacuumed:
        yield "the server's tables were vacuumed; nothing deleted can be read in them any more", ""
        yield "  old bytes stay in their files until written over, and in the server's log and backups", "yellow"
        yield "  VACUUM FULL rewrites the files; nobody can read or write them meanwhile", "yellow"


def _headline(receipt: ForgetReceipt) -> str:
    count = f"{receipt.entries} {'entry' if receipt.entries == 1 else 'entries'}"
    done = "would forget" if receipt.dry_run else "forgot"
    number = len(receipt.sources) + len(receipt.removed)
    sources = "source" if number == 1 else "sources"
    return f"{done} {count} and the words of {number} {sources} ({receipt.what})"


def _names(before: str, names: Sequence[str], style: str) -> Iterator[Line]:
    for name in names[:_SHOWN_AT_MOST]:
        yield f"  {before}{name}", style
    if len(names) > _SHOWN_AT_MOST:
        yield f"  {before}{len(names) - _SHOWN_AT_MOST} more (--json lists all)", style
