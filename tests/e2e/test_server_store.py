"""The whole program on a server: the commands of a day, for two users, from an empty database on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.postgres import Server, run_sql

pytestmark = pytest.mark.e2e

ALICE, BOB = ("--user", "user_id=alice"), ("--user", "user_id=bob")


@pytest.fixture
def db(postgres: Server) -> Iterator[str]:
    url = postgres.make(empty=True)
    yield url
    postgres.drop(url)


def test_a_day_on_a_server(memu, example: Path, tmp_path: Path, db: str) -> None:
    told = {"MEMU_DB": db, "MEMU_OUT": str(tmp_path / "out")}
    refused = memu("sync", example, **told)
    assert (refused.code, refused.out) == (4, "")
    assert "memu db upgrade" in refused.err
    assert memu("db", "check", **told).code == 4
    assert "upgraded from nothing" in memu("db", "upgrade", **told).out
    assert memu("db", "check", **told).code == 0
    first = memu("sync", example, "--json", **told)
    assert first.code == 0, first.err
    assert first.document["failed"] == []
    again = memu("sync", example, "--json", **told).document
    assert (again["added"], again["modified"], again["unchanged"]) == ([], [], len(first.document["added"]))
    hits = memu("search", "when do deploys go out", "--json", **told).document["hits"]
    assert any("Tuesday" in hit["text"] for hit in hits)
    page = memu("get", hits[0]["path"] or "README.md", **told)
    assert page.code == 0
    assert memu("export", "--quiet", **told).code == 0
    assert (tmp_path / "out" / "workspace-memory" / "MEMORY.md").is_file()
    assert memu("status", **told).code == 0
    doctor = memu("doctor", **told)
    assert doctor.code == 0, doctor.out + doctor.err
    assert not (example / ".memu").exists()
    assert "release train is cut" in memu("search", "when is the release train cut", "--json", **told).out
    gone = memu("forget", "--match", "release train is cut", **told)
    assert gone.code == 0, gone.err
    assert "release train is cut" not in memu("search", "when is the release train cut", "--json", **told).out
    assert run_sql(db, "SELECT count(*) FROM lock") == [(0,)]


@pytest.fixture(params=["sqlite", "postgres"])
def any_db(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without any table."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.sqlite3'}"
    made: str = request.getfixturevalue("db")
    return made


def test_f43_alice_and_bob_have_pages_of_one_name_and_see_their_own(memu, tmp_path: Path, any_db: str) -> None:
    told = {"MEMU_DB": any_db, "MEMU_OUT": str(tmp_path / "out")}
    assert memu("db", "upgrade", **told).code == 0
    for user, word in ((ALICE, "herons"), (BOB, "otters")):
        folder = tmp_path / word
        folder.mkdir()
        (folder / "notes.md").write_text(f"# Animals\n\nWe decided to count the {word} each spring.\n")
        assert memu("sync", folder, *user, **told).code == 0
    for user, own, other in ((ALICE, "herons", "otters"), (BOB, "otters", "herons")):
        found = memu("search", "what is counted each spring", "--json", *user, **told).out
        assert own in found
        assert other not in found
    assert memu("search", "what is counted each spring", "--json", **told).document["hits"] == []
    trees = {path.name: path for path in (tmp_path / "out").iterdir()}
    assert len(trees) == 2
    for tree in trees.values():
        text = "".join(path.read_text(encoding="utf-8") for path in tree.rglob("*.md"))
        assert ("herons" in text) != ("otters" in text)
