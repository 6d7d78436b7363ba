"""The retrieve workflow on a real store: F35, F40, F47–F51, P6, P9, P12."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import pytest

from memu.errors import ConfigurationError
from memu.providers.fakes import FailingEncoder, HashingEncoder, RandomEncoder
from memu.providers.protocols import Encoder
from memu.records import (
    EMPTY_SCOPE,
    EncoderIdentity,
    Kind,
    Layer,
    LineSpan,
    MemoryType,
    Passage,
    RecallEntry,
    Resource,
    RetrieveResult,
    Scope,
    State,
    Track,
)
from memu.retrieve.workflow import RetrieveState, retrieve_workflow
from memu.storage.database import Database
from memu.storage.session import Session
from memu.storage.vectors import quantise
from memu.tokens import detect_language, text_key
from memu.workflow import LocalRunner

pytestmark = pytest.mark.unit

RESOURCE = frozenset({Layer.RESOURCE})
CORPUS = {
    "docs/deploy.md": "Deploys go out on Tuesdays after the stand-up, when the release train is cut.",
    "docs/rollback.md": "To roll back a bad release, switch the traffic to the last good version.",
    "docs/errors.md": "The gateway answers ERR_4091 when a locker is already booked by someone else.",
    "docs/errors-other.md": "An ERR code such as 4090 or 5091 is shown; err on the safe side. See 4091 rows.",
    "docs/rooms.md": "The blue-lantern room holds twelve people and has no window.",
    "docs/lamps.md": "A blue lamp and a lantern hang above the door; blue lamps burn, lanterns glow.",
    "src/http.py": "def parseHTTPResponse(raw): splits the status line from the headers and body",
    "src/parse.py": "def parse(response): the HTTP response is parsed elsewhere, parse nothing here",
    "notes/cpp.md": "We compile the C++ part with clang; plain C stays in its own folder.",
    "notes/cats.md": "Cats sleep sixteen hours a day and purr when they are stroked.",
    "zh/足球.md": "比赛中黑豹队的防守丢了三百零八分，在联赛中排名第六。",
    "zh/城市.md": "上海是中国最大的城市之一，人口超过两千万。",
    "de/haus.md": "Das alte Haus am See hat viele Fenster und einen kleinen Garten.",
}


def write_corpus(database: Database, corpus: dict[str, str] = CORPUS, scope: Scope = EMPTY_SCOPE) -> None:
    def work(session: Session) -> None:
        repository = session.within(scope)
        workspace = repository.workspaces.add(name="notes", root="/notes")
        for path, text in corpus.items():
            language = detect_language(text)
            resource = repository.resources.save(
                Resource(
                    id="",
                    workspace_id=workspace.id,
                    path=path,
                    kind=Kind.DOCUMENT,
                    title=path.rsplit("/", 1)[-1].split(".")[0],
                    state=State.DONE,
                    language=language,
                )
            )
            lines = text.split("\n\n")
            repository.passages.replace_for_resource(
                resource.id,
                [
                    Passage(
                        id="",
                        ordinal=at,
                        header=f"{resource.title}\n{path}",
                        text=piece,
                        heading="Top",
                        kind=Kind.DOCUMENT,
                        language=language,
                        lines=LineSpan(at * 10 + 1, at * 10 + 5),
                        happened_at=datetime(2026, 3, 1, tzinfo=UTC),
                    )
                    for at, piece in enumerate(lines)
                ],
            )

    database.write_now(work)


def write_entry(
    database: Database, path: str, text: str, line: int, page: str = "Deploys", track: Track = Track.MEMORY
) -> str:
    """An entry of a source, with its passage, on a page; returns its id."""

    def work(session: Session) -> str:
        repository = session.within(EMPTY_SCOPE)
        (resource,) = repository.resources.at(path)
        before = repository.entries.of_resource(resource.id)
        entry = RecallEntry(
            id="",
            resource_id=resource.id,
            ordinal=len(before),
            memory_type=MemoryType.KNOWLEDGE,
            track=track,
            text=text,
            text_key=text_key(text),
            lines=LineSpan(line, line),
            label="Rules",
        )
        ids = repository.entries.replace(resource.id, [*before, entry])
        repository.passages.replace_for_entries(
            resource.id,
            [
                Passage(
                    id="",
                    ordinal=0,
                    header=path,
                    text=each.text,
                    heading=each.label,
                    entry_id=known,
                    track=each.track,
                    kind=Kind.DOCUMENT,
                    language="en",
                    lines=each.lines,
                )
                for known, each in zip(ids, [*before, entry], strict=True)
            ],
        )
        kept = repository.pages.ensure(track, page)
        repository.pages.link(kept.id, [ids[-1]])
        return ids[-1]

    return database.write_now(work)


async def embed(database: Database, encoder: Encoder, scope: Scope = EMPTY_SCOPE) -> None:
    missing = database.read_now(lambda session: session.within(scope).passages.without_vector("", limit=1000))
    vectors = await encoder.encode([f"{each.header}\n{each.text}" for each in missing])
    rows = quantise([each.id for each in missing], vectors, encoder.identity.dimension).rows

    def work(session: Session) -> None:
        stored = session.encoders.register(encoder.identity)
        session.within(scope).passages.add_vectors(stored.id, rows)

    database.write_now(work)


async def ask(
    database: Database,
    query: str,
    encoder: Encoder | None = None,
    *,
    scopes: Sequence[Scope] = (EMPTY_SCOPE,),
    layers: frozenset[Layer] = frozenset(Layer),
    tracks: frozenset[Track] = frozenset(Track),
    max_hits: int = 10,
    max_words: int | None = None,
) -> RetrieveResult:
    state = RetrieveState(
        scopes=tuple(scopes), query=query, layers=layers, tracks=tracks, max_hits=max_hits, max_words=max_words
    )
    return (await LocalRunner().run(retrieve_workflow(database, encoder), state)).result


def paths(result: RetrieveResult) -> list[str | None]:
    return [hit.path for hit in result.hits]


@pytest.fixture(scope="module")
def filled() -> Iterator[Database]:
    """The corpus without entries and vectors; only read."""
    with Database.open("sqlite://") as opened:
        write_corpus(opened)
        yield opened


@pytest.fixture
def database() -> Iterator[Database]:
    with Database.open("sqlite://") as opened:
        write_corpus(opened)
        yield opened


NAMES = {
    "ERR_4091": "docs/errors.md",
    "err_4091": "docs/errors.md",
    "what is ERR_4091?": "docs/errors.md",
    "blue-lantern": "docs/rooms.md",
    "parseHTTPResponse": "src/http.py",
    "rollback.md": "docs/rollback.md",
    "src/parse.py": "src/parse.py",
    "C++": "notes/cpp.md",
}


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
async def test_f47_a_name_is_found_first_also_with_a_random_encoder(database: Database, seed: int | None) -> None:
    encoder = RandomEncoder(seed=seed) if seed is not None else None
    if encoder:
        await embed(database, encoder)
    assert {query: (await ask(database, query, encoder)).hits[0].path for query in NAMES} == NAMES


async def test_f47_a_name_is_found_without_its_capitals(filled: Database) -> None:
    assert paths(await ask(filled, "parsehttpresponse")) == ["src/http.py"]


@pytest.mark.parametrize(
    "query",
    [
        "issue #24",
        "a-b",
        '"quoted',
        "*",
        "NEAR(a b)",
        "a OR b AND NOT c",
        "'; DROP TABLE passage; --",
        "\x00",
        "(",
        "",
    ],
)
async def test_f47_any_punctuation_is_no_error(filled: Database, query: str) -> None:
    await ask(filled, query, HashingEncoder())


async def test_f48_a_question_finds_passages_that_hold_only_some_of_its_words(filled: Database) -> None:
    result = await ask(filled, "On which weekday does the quarterly train of deploys leave the platform?")
    assert result.hits[0].path == "docs/deploy.md"


@pytest.mark.parametrize("query", ["黑豹队", "黑豹队的防守怎么样？", "哪个队排名第六"])
async def test_f49_chinese_inside_an_unspaced_sentence(filled: Database, query: str) -> None:
    assert paths(await ask(filled, query))[0] == "zh/足球.md"


async def test_a_word_is_found_in_the_language_of_the_store(filled: Database) -> None:
    assert paths(await ask(filled, "Häuser"))[0] == "de/haus.md"


@pytest.mark.parametrize("query", ["qwxzv flurble", "zzzz", "!!!", "   "])
async def test_f50_nonsense_finds_nothing(filled: Database, query: str) -> None:
    assert not (await ask(filled, query)).hits


async def test_f50_order_is_by_score_and_ranks_tell_the_lists(database: Database) -> None:
    encoder = HashingEncoder(256)
    await embed(database, encoder)
    result = await ask(database, "when is a bad release rolled back", encoder)
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)
    assert result.hits[0].path == "docs/rollback.md"
    assert result.hits[0].ranks == {"words": 1, "vector": 1}
    assert result.degraded is None


async def test_f40_an_oversize_query_is_clamped(database: Database) -> None:
    encoder = HashingEncoder()
    await embed(database, encoder)
    before = len(encoder.asked)
    result = await ask(database, "deploys on tuesdays " + "word filler " * 200_000, encoder)
    assert "docs/deploy.md" in paths(result)
    (asked,) = encoder.asked[before:]
    assert len(asked[0]) <= 4000


async def test_f51_hits_carry_what_cites_them(filled: Database) -> None:
    hit = (await ask(filled, "when do deploys go out")).hits[0]
    assert (hit.layer, hit.title, hit.heading, hit.path) == (Layer.RESOURCE, "deploy", "Top", "docs/deploy.md")
    assert (hit.lines, hit.time, hit.text) == (
        LineSpan(1, 5),
        datetime(2026, 3, 1, tzinfo=UTC),
        CORPUS["docs/deploy.md"],
    )


@pytest.mark.parametrize("max_words", [1, 10, 30, 100])
async def test_f51_answers_keep_to_a_budget_of_words(filled: Database, max_words: int) -> None:
    result = await ask(filled, "release blue lantern err response house cats deploys", max_words=max_words)
    assert 0 < sum(len(hit.text.split()) for hit in result.hits) <= max_words


async def test_f51_a_long_text_is_cut() -> None:
    with Database.open("sqlite://") as database:
        write_corpus(database, {"long.md": "deploy " * 5000})
        (hit,) = (await ask(database, "deploy")).hits
    assert len(hit.text.split()) <= 200


@pytest.mark.parametrize("max_hits", [0, 1, 3])
async def test_at_most_so_many_hits(filled: Database, max_hits: int) -> None:
    assert len((await ask(filled, "release lantern response", max_hits=max_hits)).hits) == max_hits


async def test_f35_p12_an_encoder_that_is_down_leaves_words(database: Database) -> None:
    await embed(database, HashingEncoder(name="failing"))
    result = await ask(database, "when do deploys go out", FailingEncoder())
    assert result.hits[0].path == "docs/deploy.md"
    assert result.degraded
    assert "does not answer" in result.degraded


async def test_p12_no_encoder_and_no_vectors_leave_words_and_say_so(database: Database) -> None:
    nothing = await ask(database, "when do deploys go out", None)
    unsynced = await ask(database, "when do deploys go out", HashingEncoder())
    assert nothing.hits[0].path == unsynced.hits[0].path == "docs/deploy.md"
    assert "'.[local]'" in (nothing.degraded or "")
    assert "sync" in (unsynced.degraded or "")


async def test_p12_a_reindex_that_was_killed_is_named_with_what_goes_on_with_it(database: Database) -> None:
    encoder = HashingEncoder()
    database.write_now(lambda session: session.encoders.add(encoder.identity))
    assert "`memu reindex` goes on with it" in ((await ask(database, "deploys", encoder)).degraded or "")


async def test_p9_p12_another_encoder_is_refused_with_the_command_and_words_answer(database: Database) -> None:
    """F20: also one of the same size."""
    await embed(database, HashingEncoder(64))
    result = await ask(database, "when do deploys go out", RandomEncoder(64))
    assert result.hits[0].path == "docs/deploy.md"
    assert "memu reindex" in (result.degraded or "")
    assert all("vector" not in hit.ranks for hit in result.hits)


async def test_p12_an_encoder_whose_files_are_gone_leaves_words(filled: Database) -> None:
    class Gone(HashingEncoder):
        async def encode_query(self, text: str):  # type: ignore[no-untyped-def]
            raise ConfigurationError("The encoder's file model.onnx cannot be read.")

    result = await ask(filled, "when do deploys go out", Gone())
    assert result.hits[0].path == "docs/deploy.md"
    assert "model.onnx" in (result.degraded or "")


async def test_a_question_that_the_encoder_cannot_read_is_not_encoded(database: Database) -> None:
    encoder = HashingEncoder(languages=frozenset({"en"}))
    await embed(database, encoder)
    before = len(encoder.asked)
    result = await ask(database, "黑豹队的防守怎么样？", encoder)
    assert len(encoder.asked) == before
    assert result.hits[0].path == "zh/足球.md"
    assert "zh" in (result.degraded or "")


async def test_one_encoder_call_and_no_more(database: Database) -> None:
    encoder = HashingEncoder()
    await embed(database, encoder)
    before = len(encoder.asked)
    await ask(database, "when do deploys go out", encoder)
    assert len(encoder.asked) == before + 1


async def test_vectors_find_what_shares_no_word(database: Database) -> None:
    class Translating(HashingEncoder):
        async def encode_query(self, text: str):  # type: ignore[no-untyped-def]
            return (await self.encode(["Cats sleep sixteen hours a day and purr when they are stroked"]))[0]

    encoder = Translating(256)
    await embed(database, encoder)
    result = await ask(database, "felines nap", encoder)
    assert result.hits[0].path == "notes/cats.md"
    assert result.hits[0].ranks == {"vector": 1}


async def test_p6_only_the_scopes_asked_for_are_searched(database: Database) -> None:
    alice, bob = Scope.of({"user_id": "alice"}), Scope.of({"user_id": "bob"})
    write_corpus(database, {"a.md": "alice deploys on Monday"}, alice)
    write_corpus(database, {"b.md": "bob deploys on Friday"}, bob)
    assert paths(await ask(database, "deploys", scopes=[alice])) == ["a.md"]
    assert set(paths(await ask(database, "deploys", scopes=[alice, bob]))) == {"a.md", "b.md"}
    assert not (await ask(database, "deploys", scopes=[Scope.of({"user_id": "carol"})])).hits
    assert not (await ask(database, "deploys", scopes=[])).hits


async def test_an_entry_and_the_passage_that_holds_it_are_one_hit(database: Database) -> None:
    inside = write_entry(database, "docs/deploy.md", "Deploys go out on Tuesdays", line=2)
    result = await ask(database, "deploys on tuesdays", layers=frozenset({Layer.ENTRY, Layer.RESOURCE}))
    assert paths(result).count("docs/deploy.md") == 1
    assert result.hits[0].id == inside
    assert result.hits[0].text == "Rules: Deploys go out on Tuesdays"


async def test_an_entry_outside_the_passage_is_a_hit_of_its_own(database: Database) -> None:
    write_entry(database, "docs/deploy.md", "Deploys on Friday are forbidden", line=40)
    result = await ask(database, "deploys", layers=frozenset({Layer.ENTRY, Layer.RESOURCE}))
    assert paths(result).count("docs/deploy.md") == 2


async def test_pages_are_found_through_their_entries(database: Database) -> None:
    write_entry(database, "docs/deploy.md", "Deploys go out on Tuesdays", line=2)
    write_entry(database, "docs/rollback.md", "A bad deploy is rolled back", line=2)
    (page,) = (await ask(database, "deploys on tuesdays", layers=frozenset({Layer.FILE}))).hits
    assert (page.layer, page.title, page.track) == (Layer.FILE, "Deploys", Track.MEMORY)
    assert page.text.index("Tuesdays") < page.text.index("rolled back")


async def test_a_page_says_its_entries_only_where_they_are_several(database: Database) -> None:
    write_entry(database, "docs/deploy.md", "Deploys go out on Tuesdays", line=2)
    assert Layer.FILE not in {hit.layer for hit in (await ask(database, "deploys on tuesdays")).hits}
    write_entry(database, "docs/rollback.md", "A bad deploy is rolled back", line=2)
    assert Layer.FILE in {hit.layer for hit in (await ask(database, "deploys on tuesdays")).hits}


async def test_tracks_rule_pages_and_entries(database: Database) -> None:
    write_entry(database, "docs/deploy.md", "Deploys go out on Tuesdays", line=2)
    write_entry(database, "docs/rollback.md", "Run the deploy back", line=2, page="How to", track=Track.SKILL)
    layers = frozenset({Layer.ENTRY, Layer.FILE})
    skills = await ask(database, "deploys", layers=layers, tracks=frozenset({Track.SKILL}))
    assert {(hit.layer, hit.track) for hit in skills.hits} == {(Layer.ENTRY, Track.SKILL)}
    only_pages = await ask(database, "deploys", layers=frozenset({Layer.FILE}), tracks=frozenset({Track.SKILL}))
    assert [hit.title for hit in only_pages.hits] == ["How to"]


@pytest.mark.parametrize("layers", [{Layer.ENTRY}, {Layer.RESOURCE}, {Layer.FILE}, set()])
async def test_only_the_layers_asked_for(database: Database, layers: set[Layer]) -> None:
    write_entry(database, "docs/deploy.md", "Deploys go out on Tuesdays", line=2)
    result = await ask(database, "deploys", layers=frozenset(layers))
    assert {hit.layer for hit in result.hits} == layers


async def test_one_source_does_not_crowd_out_the_others() -> None:
    with Database.open("sqlite://") as database:
        many = "\n\n".join(f"deploy deploy deploy number {n}" for n in range(20))
        write_corpus(database, {"many.md": many, "one.md": "a deploy in a much longer text about other things"})
        few = await ask(database, "deploy", max_hits=4)
        all_left = await ask(database, "deploy", max_hits=10)
    assert paths(few).count("many.md") == 3
    assert "one.md" in paths(few)
    assert len(all_left.hits) == 10
    assert [hit.score for hit in all_left.hits] == sorted((hit.score for hit in all_left.hits), reverse=True)


async def test_equals_stand_by_path_and_line() -> None:
    with Database.open("sqlite://") as database:
        write_corpus(database, dict.fromkeys(["b.md", "a.md", "c.md"], "the same deploy\n\nthe same deploy"))
        result = await ask(database, "same deploy", layers=RESOURCE)
    assert [(hit.path, hit.lines.start) for hit in result.hits if hit.lines] == [
        (path, line) for path in ("a.md", "b.md", "c.md") for line in (1, 11)
    ]


async def test_f19_a_store_whose_encoder_row_stands_without_vectors_answers(database: Database) -> None:
    identity = EncoderIdentity(name="hashing", dimension=64, fingerprint="hashing-64")
    database.write_now(lambda session: session.encoders.register(identity))
    result = await ask(database, "when do deploys go out", HashingEncoder())
    assert result.hits[0].path == "docs/deploy.md"


async def test_a_step_can_be_replaced(filled: Database) -> None:
    async def shout(state: RetrieveState) -> RetrieveState:
        from dataclasses import replace

        return replace(state, text="cats", language="en")

    workflow = retrieve_workflow(filled, None).replacing("parse", shout)
    state = RetrieveState(scopes=(EMPTY_SCOPE,), query="deploys")
    assert paths((await LocalRunner().run(workflow, state)).result)[0] == "notes/cats.md"
