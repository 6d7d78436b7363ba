"""``memu retrieve-workspace QUERY``, also ``memu search``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import click

from memu.cli.options import Common, common_options
from memu.cli.output import console, plain, write_json
from memu.records import Hit, Kind, Layer, MemoryType, RetrieveResult, Track

__all__ = ["heading_line", "retrieve_workspace"]


@click.command("retrieve-workspace")
@click.argument("query")
@click.option("--layer", "layers", multiple=True, type=click.Choice([layer.value for layer in Layer]))
@click.option("--track", "tracks", multiple=True, type=click.Choice([track.value for track in Track]))
@click.option("--path", metavar="GLOB", help="Only from sources at such paths: docs/**, *.md.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice([kind.value for kind in Kind]))
@click.option("--type", "memory_types", multiple=True, type=click.Choice([each.value for each in MemoryType]))
@click.option(
    "--since", metavar="TIME", help="Only what happened from then on: 2026-03-01, or with the time of day."
)
@click.option("--until", metavar="TIME", help="Only what happened until then.")
@click.option("--changed-since", metavar="TIME", help="Only from files that changed from then on.")
@click.option("--changed-until", metavar="TIME", help="Only from files that changed until then.")
@click.option("--workspace", metavar="NAME", help="Only from this workspace: its name or root.")
@click.option("--across", is_flag=True, help="Search every scope that has the fields of --user.")
@click.option("--max-hits", default=10, show_default=True, type=click.IntRange(min=1))
@click.option("--max-words", type=click.IntRange(min=1), help="Stop before the text grows longer than this.")
@click.option("--min-score", default=0.0, type=click.FloatRange(0, 1), help="Leave out what scores less.")
@click.option("--explain", is_flag=True, help="Say how each hit scored, what was searched and what was cut.")
@common_options
def retrieve_workspace(
    query: str,
    layers: Sequence[str],
    tracks: Sequence[str],
    max_hits: int,
    max_words: int | None,
    common: Common,
    **bounds: Any,
) -> int:
    """Answer QUERY with quoted passages and where they stand: pages, remembered entries and sources."""

    async def search() -> RetrieveResult:
        async with common.open_service() as memu:
            return await memu.retrieve_workspace(
                query,
                where=common.user,
                layers=[Layer(layer) for layer in layers] or None,
                tracks=[Track(track) for track in tracks] or None,
                max_hits=max_hits,
                max_words=max_words,
                **{name: value for name, value in bounds.items() if value != ()},
            )

    result = asyncio.run(search())
    if common.as_json:
        write_json(result.to_dict())
        return 0
    if result.degraded:
        common.notice(f"degraded: {result.degraded}")
    if not result.hits:
        common.notice("Nothing found.")
    elif all(hit.weak for hit in result.hits):
        common.notice("Only weak hits: the answer may not be in memory.")
    _print_hits(result.hits)
    _print_explanation(result)
    return 0


def heading_line(hit: Hit) -> str:
    """Where a hit stands: path and lines, or the page; then its heading, and whether it holds no more."""
    place = hit.place or ""
    if hit.lines:
        place = f"{hit.lines.start}-{hit.lines.end}" if hit.lines.end > hit.lines.start else f"{hit.lines.start}"
    source = f"{hit.path}:{place}" if hit.path and place else hit.path or ""
    page = f"{hit.track.value} page" if hit.layer is Layer.FILE and hit.track else ""
    return " · ".join(part for part in (source, page, hit.heading, "earlier" if hit.earlier else "") if part)


def _print_hits(hits: Sequence[Hit]) -> None:
    from rich.text import Text

    screen = console()
    told: tuple[str | None, int | None] = (None, None)
    for rank, hit in enumerate(hits, start=1):
        if rank > 1:
            screen.print()
        screen.print(Text(plain(f"[{rank}] {hit.title}"), style="bold"), soft_wrap=True)
        screen.print(Text(plain(f"    {heading_line(hit)}"), style="cyan"), soft_wrap=True)
        if hit.scores:
            screen.print(Text(f"    {_scores_line(hit)}", style="dim"), soft_wrap=True)
        if hit.card and hit.card != hit.text and (hit.path, hit.turn) != told:
            _print_wrapped(hit.card, "    | ", "dim")
        told = (hit.path, hit.turn)
        _print_wrapped(hit.text, "    ", "")


def _print_explanation(result: RetrieveResult) -> None:
    from rich.text import Text

    if result.explanation is None:
        return
    screen = console()
    screen.print()
    for name, parts in result.explanation.items():
        told = ", ".join(f"{part} {_plainly(value)}" for part, value in parts.items())
        screen.print(Text(plain(f"{name}: {told}"), style="dim"), soft_wrap=True)


def _plainly(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def _scores_line(hit: Hit) -> str:
    """With ``--explain``: the score and what it came from."""
    parts = "".join(f" · {name} {score:.3f}" for name, score in hit.scores.items())
    places = "".join(f" · {name} #{rank}" for name, rank in hit.ranks.items())
    return f"score {hit.score:.3f}{' (weak)' if hit.weak else ''}{parts}{places}"


def _print_wrapped(text: str, margin: str, style: str) -> None:
    """Wrapped by hand: rich would fill each line with spaces, which no pipe wants."""
    from rich.text import Text

    screen = console()
    for line in Text(plain(text).expandtabs(4)).wrap(screen, screen.width - len(margin)):
        screen.print(Text(f"{margin}{line.plain}".rstrip(), style=style), soft_wrap=True)
