"""What a rating and "weak" are worth, and the constants behind them: answerable against unanswerable questions.

    python benchmarks/ratings.py DIR --sets docsqa xquad_en [--encoder auto|none|PATH] [--queries N]

DIR is that of ``quality.py``. Each question is asked twice: with its answers among the candidates, and with them
taken out, as if nobody had written them down; what is left are passages about the same things. Half of the
questions fit the constants, the other half gives the figures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from quality import embed, fill, load_units

from memu.providers.choice import choose_encoder
from memu.providers.protocols import Encoder
from memu.records import EMPTY_SCOPE, Layer
from memu.retrieve.ranking import RankingPolicy, fuse
from memu.retrieve.rating import share_of_words
from memu.retrieve.workflow import RetrieveState, retrieve_workflow
from memu.storage.database import Database
from memu.workflow import LocalRunner

_HITS = 5
# bias, share of words, cosine, how far behind the best; answer or not; place; asked with its answers there or not.
_COLUMNS = 7


async def collect(folder: Path, name: str, encoder: Encoder | None, limit: int) -> list[NDArray[np.float64]]:
    """For each question of a set the rows of its best hits, with its answers there and without them."""
    lines = (folder / f"{name}.queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [json.loads(line) for line in lines]
    queries = queries[:: max(1, len(queries) // limit)][:limit]
    with Database.open("sqlite://") as database:
        fill(database, load_units(folder / f"{name}.docs.jsonl"))
        if encoder is not None:
            await embed(database, encoder)
        workflow = retrieve_workflow(database, encoder)
        told = []
        for query in queries:
            state = RetrieveState(scopes=(EMPTY_SCOPE,), query=query["text"], layers=frozenset({Layer.RESOURCE}))
            told.append(_rows(await LocalRunner().run(workflow, state), query["rel"], encoder))
    return [rows for rows in told if len(rows)]


def _rows(state: RetrieveState, relevant: Mapping[str, float], encoder: Encoder | None) -> NDArray[np.float64]:
    rows = []
    for answerable in (True, False):
        paths = {
            each.id: resource.path
            for each in state.candidates
            if (resource := state.found[each.id].resource) is not None
        }
        pool = [each for each in state.candidates if answerable or paths.get(each.id) not in relevant]
        identity = encoder.identity if encoder is not None and state.vector is not None else None
        scores = fuse(pool, RankingPolicy(), encoder=identity, names_only=state.names_only)
        ranked = sorted((each for each in pool if each.id in scores), key=lambda each: -scores[each.id])[:_HITS]
        for place, each in enumerate(ranked):
            share, near = share_of_words(ranked[0], state.most_words), ranked[0].cosine or 0.0
            behind = scores[each.id] - scores[ranked[0].id]
            rows.append((1.0, share, near, behind, paths.get(each.id) in relevant, place, answerable))
    return np.array(rows, dtype=np.float64).reshape(-1, _COLUMNS)


def fit(rows: NDArray[np.float64], used: Sequence[int]) -> NDArray[np.float64]:
    """Logistic regression by Newton's method, with a slight pull to zero."""
    features, answers = rows[:, used], rows[:, 4]
    weights = np.zeros(len(used))
    for _ in range(50):
        expected = 1 / (1 + np.exp(-features @ weights))
        slope = features.T @ (answers - expected) - 1e-3 * weights
        curve = (features.T * (expected * (1 - expected))) @ features + 1e-3 * np.eye(len(used))
        weights += np.linalg.solve(curve, slope)
    return weights


def tell(rows: NDArray[np.float64], used: Sequence[int], weights: NDArray[np.float64]) -> None:
    """How well the rating tells right hits from wrong ones, and where to call a hit weak."""
    ratings = 1 / (1 + np.exp(-rows[:, used] @ weights))
    answers = rows[:, 4] > 0
    best = rows[:, 5] == 0
    kept, lost = ratings[best & (rows[:, 6] > 0)], ratings[best & (rows[:, 6] == 0)]
    right = ratings[answers]
    area = float(np.mean([np.mean(right > each) + np.mean(right == each) / 2 for each in ratings[~answers]]))
    first = float(np.mean([np.mean(kept > each) + np.mean(kept == each) / 2 for each in lost]))
    print(f"  a right hit is rated above a wrong one: {area:.3f}; first hits, answerable above not: {first:.3f}")
    for low, high in ((0, 0.1), (0.1, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.01)):
        within = (ratings >= low) & (ratings < high)
        if within.any():
            print(f"  rated {low:.2f}–{min(1, high):.2f}: {within.sum()} hits, {answers[within].mean():.2f} right")
    for share in (0.02, 0.05, 0.1):
        bar = float(np.quantile(right, share))
        print(
            f"  below {bar:.3f}: {share:.0%} of right hits; {np.mean(ratings[~answers] < bar):.0%} of wrong "
            f"ones; first hits of {np.mean(lost < bar):.0%} of the unanswerable, {np.mean(kept < bar):.0%} of the "
            "others"
        )


def report(told: Mapping[str, list[NDArray[np.float64]]], used: Sequence[int]) -> None:
    """Fit on every second question of all sets together and print what that comes to on the others."""
    fitted = np.concatenate([rows for each in told.values() for rows in each[::2]])
    weights = fit(fitted, used)
    print("constants:", dict(zip(("bias", "words", "cosine", "fall"), _spread(used, weights), strict=True)))
    print("all sets")
    tell(np.concatenate([rows for each in told.values() for rows in each[1::2]]), used, weights)
    for name, each in told.items():
        print(name)
        tell(np.concatenate(each[1::2]), used, weights)


def _spread(used: Sequence[int], weights: NDArray[np.float64]) -> list[Any]:
    return [round(float(weights[list(used).index(at)]), 3) if at in used else 0.0 for at in range(4)]


async def main() -> None:
    """Ask the sets that are named and print the constants and the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", required=True)
    parser.add_argument("--encoder", default="auto")
    parser.add_argument("--queries", type=int, default=100)
    given = parser.parse_args()
    encoder = choose_encoder(given.encoder)
    told = {name: await collect(given.folder, name, encoder, given.queries) for name in given.sets}
    report(told, (0, 1, 3) if encoder is None else (0, 1, 2, 3))


if __name__ == "__main__":
    asyncio.run(main())
