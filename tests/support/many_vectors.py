"""A scope of many passages with vectors, written to a Postgres store in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import psycopg
from sqlalchemy.engine import make_url

from memu.records import EMPTY_SCOPE, EncoderIdentity, Kind, Resource, Scope, State
from memu.storage.database import Database
from memu.storage.session import Session
from memu.storage.vectors import quantise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ManyVectors", "add_many_vectors", "draw_vectors"]

# Of the passages, one in a hundred is a table's, one in ten mail.
RARE, UNCOMMON, COMMON = Kind.TABLE, Kind.MAIL, Kind.DOCUMENT


@dataclass(frozen=True, kw_only=True)
class ManyVectors:
    """``ids`` in the order of the vectors given; ``kinds`` the kind of each."""

    scope_id: str
    encoder_id: str
    ids: tuple[str, ...]
    kinds: tuple[Kind, ...]


def draw_vectors(count: int, dimension: int, seed: int, *, centres: int = 200) -> NDArray[np.float32]:
    """Vectors about some centres, as texts lie about subjects: each has neighbours."""
    import numpy as np

    chance = np.random.default_rng(seed)
    about = chance.normal(size=(centres, dimension))
    drawn = about[chance.integers(centres, size=count)] + 0.6 * chance.normal(size=(count, dimension))
    return drawn.astype(np.float32)


def add_many_vectors(
    url: str, vectors: NDArray[np.float32], *, scope: Scope = EMPTY_SCOPE, encoder: str = "e"
) -> ManyVectors:
    """One source with a passage and a vector for each row."""
    count, dimension = vectors.shape
    identity = EncoderIdentity(name=encoder, dimension=dimension, fingerprint="f")

    def prepare(session: Session) -> tuple[str, str]:
        repository = session.within(scope)
        workspace = repository.workspaces.add(name=None, root=f"/{scope.key}")
        resource = Resource(
            id="", workspace_id=workspace.id, path="a.md", kind=Kind.DOCUMENT, title="", state=State.DONE
        )
        return repository.resources.save(resource).id, session.encoders.register(identity).id

    with Database.open(url) as database:
        resource_id, encoder_id = database.write_now(prepare)
    ids = tuple(f"{scope_at:08}" for scope_at in range(count))
    kinds = tuple(RARE if at % 100 == 7 else UNCOMMON if at % 10 == 3 else COMMON for at in range(count))
    rows = quantise(ids, vectors, dimension).rows
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain) as connection:
        [scope_id] = connection.execute("SELECT id FROM scope WHERE key = %s", (scope.key,)).fetchone() or [""]
        with connection.cursor().copy(
            "COPY passage (scope_id, id, resource_id, ordinal, heading, header, text, length, kind, line_start)"
            " FROM STDIN"
        ) as copy:
            for at, (each, kind) in enumerate(zip(ids, kinds, strict=True)):
                copy.write_row((scope_id, each, resource_id, at, "", "", f"Fact {at}.", 2, kind.value, at + 1))
        with connection.cursor().copy(
            "COPY passage_vector (scope_id, passage_id, encoder_id, vector, scale) FROM STDIN"
        ) as copy:
            for row in rows:
                numbers = ",".join(map(str, memoryview(row.vector).cast("b")))
                copy.write_row((scope_id, row.passage_id, encoder_id, f"[{numbers}]", row.scale))
    return ManyVectors(scope_id=scope_id, encoder_id=encoder_id, ids=ids, kinds=kinds)
