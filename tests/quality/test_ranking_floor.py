"""Floors on ranking, on a small set of our own: by words in four languages, and with the embedded encoder."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import pytest

from memu.providers.embedded import EmbeddedEncoder, is_installed
from memu.providers.protocols import Encoder
from memu.records import EMPTY_SCOPE, Kind, Layer, LineSpan, Passage, Resource, State
from memu.retrieve.workflow import RetrieveState, retrieve_workflow
from memu.storage.database import Database
from memu.storage.session import Session
from memu.storage.vectors import quantise
from memu.tokens import detect_language
from memu.workflow import LocalRunner

pytestmark = pytest.mark.quality

TEXTS = {
    "deploy": "Releases go out on Tuesday and Thursday mornings. The release train is cut the evening before.",
    "rollback": "If the error rate rises after a release, switch traffic back to the last good version.",
    "queue": "Failed jobs are retried five times, after 1, 5, 15, 60 and 240 minutes, and then parked.",
    "postgres": "We moved the job queue from Redis to Postgres because two outages had lost jobs.",
    "oncall": "Whoever is on call carries the phone from Monday noon to Monday noon and hands over in person.",
    "backup": "A nightly dump of the database is copied to another region and restored there every month.",
    "secrets": "Passwords and tokens live in the vault; nothing secret is written to the repository or to logs.",
    "hiring": "Candidates meet two engineers and one designer; we answer within five working days.",
    "holiday": "Everybody takes at least twenty-five days off a year and tells the team two weeks ahead.",
    "coffee": "The espresso machine is descaled on the first Friday of a month; the tablets lie under the sink.",
    "garden": "Tomatoes are watered in the morning and never over their leaves, or they catch blight.",
    "bread": "The dough rests overnight in the fridge and is baked for forty minutes in an iron pot.",
    "bicycle": "Oil the chain after every ride in the rain and keep the tyres at five bar.",
    "cats": "Our two cats get dry food at seven and may not have milk, which upsets their stomachs.",
    "http": "def parseHTTPResponse(raw): splits the status line from headers and body, raises ERR_4091.",
    "cache": "The cache keeps a page for ten minutes; purge it by prefix when a template has changed.",
    "de_haus": "Das alte Haus am See hat dreißig Fenster und wurde im Jahr 1890 für einen Arzt gebaut.",
    "de_zug": "Der Zug nach Hamburg fährt stündlich von Gleis sieben und braucht zwei Stunden.",
    "de_brot": "Das Brot wird aus Roggenmehl gebacken und bleibt eine Woche lang frisch.",
    "de_verein": "Der Verein hat achtzig Mitglieder, die sich jeden Mittwoch in der Turnhalle treffen.",
    "es_mercado": "El mercado abre los sábados por la mañana y vende frutas de los pueblos cercanos.",
    "es_rio": "El río nace en las montañas y desemboca en el mar después de trescientos kilómetros.",
    "es_escuela": "La escuela fue fundada por dos maestras y enseña música a los niños del barrio.",
    "es_tren": "Los trenes a Sevilla salen cada hora desde el andén número cuatro.",
    "zh_team": "比赛中黑豹队的防守丢了三百零八分，在联赛中排名第六。",
    "zh_city": "上海是中国人口最多的城市之一，港口的货运量居世界首位。",
    "zh_tea": "绿茶应当用八十度左右的热水冲泡，时间不要超过三分钟。",
    "zh_book": "这本小说讲述了一个渔夫在海上与大鱼搏斗三天的故事。",
}

LEXICAL = {
    "On which days do releases go out?": "deploy",
    "what do I do when errors rise after releasing": "rollback",
    "how often is a failed job retried": "queue",
    "why did we move from Redis": "postgres",
    "who carries the phone on call": "oncall",
    "where are database dumps copied": "backup",
    "may a password be written to the logs": "secrets",
    "when is the espresso machine descaled": "coffee",
    "ERR_4091": "http",
    "purging cached pages": "cache",
    "Wie viele Fenster hat das Haus?": "de_haus",
    "Von welchem Gleis fahren die Züge nach Hamburg?": "de_zug",
    "Woraus werden Brote gebacken?": "de_brot",
    "Wann trifft sich das Mitglied des Vereins?": "de_verein",
    "¿Qué venden en los mercados?": "es_mercado",
    "¿Dónde desembocan los ríos?": "es_rio",
    "¿Quién fundó las escuelas?": "es_escuela",
    "¿De qué andén sale el tren a Sevilla?": "es_tren",
    "黑豹队丢了多少分？": "zh_team",
    "哪个城市人口最多": "zh_city",
    "绿茶要泡多久？": "zh_tea",
    "小说讲的是什么故事": "zh_book",
}

MEANT = {
    "what should I do if the new version is broken": "rollback",
    "how many vacation days do employees get": "holiday",
    "interview process for applicants": "hiring",
    "what do pets eat": "cats",
    "how to look after plants in summer": "garden",
    "recipe for a loaf": "bread",
    "maintaining my bike": "bicycle",
    "where do I store credentials": "secrets",
}


@pytest.fixture(scope="module")
def store() -> Iterator[Database]:
    with Database.open("sqlite://") as database:
        database.write_now(_fill)
        yield database


def _fill(session: Session) -> None:
    repository = session.within(EMPTY_SCOPE)
    workspace = repository.workspaces.add(name="set", root="/set")
    for name, text in TEXTS.items():
        language = detect_language(text)
        resource = repository.resources.save(
            Resource(
                id="",
                workspace_id=workspace.id,
                path=name,
                kind=Kind.DOCUMENT,
                title="",
                state=State.DONE,
                language=language,
            )
        )
        passage = Passage(
            id="", ordinal=0, header="", text=text, kind=Kind.DOCUMENT, language=language, lines=LineSpan(1, 1)
        )
        repository.passages.replace_for_resource(resource.id, [passage])


async def _embed(database: Database, encoder: Encoder) -> None:
    missing = await database.read(
        lambda session: session.within(EMPTY_SCOPE).passages.without_vector("", limit=99)
    )
    rows = quantise(
        [each.id for each in missing],
        await encoder.encode([each.text for each in missing]),
        encoder.identity.dimension,
    ).rows

    def work(session: Session) -> None:
        session.within(EMPTY_SCOPE).passages.add_vectors(session.encoders.register(encoder.identity).id, rows)

    await database.write(work)


async def _gain(database: Database, encoder: Encoder | None, questions: dict[str, str]) -> float:
    """Mean nDCG@10 where one text answers each question."""
    total = 0.0
    for question, answer in questions.items():
        state = RetrieveState(scopes=(EMPTY_SCOPE,), query=question, layers=frozenset({Layer.RESOURCE}))
        done = await LocalRunner().run(retrieve_workflow(database, encoder), state)
        places: Sequence[str | None] = [hit.path for hit in done.result.hits]
        total += 1 / math.log2(places.index(answer) + 2) if answer in places else 0.0
    return total / len(questions)


@pytest.mark.parametrize("language", ["en", "de", "es", "zh"])
async def test_words_alone_rank_well_in_each_language(store: Database, language: str) -> None:
    questions = {
        question: answer
        for question, answer in LEXICAL.items()
        if answer.startswith(f"{language}_") or (language == "en" and "_" not in answer)
    }
    assert len(questions) >= 4
    assert await _gain(store, None, questions) >= 0.95


@pytest.mark.skipif(not is_installed(), reason="the extra 'local' is not installed")
async def test_vectors_add_what_is_meant_and_take_nothing_away(store: Database) -> None:
    encoder = EmbeddedEncoder()
    await _embed(store, encoder)
    assert await _gain(store, encoder, LEXICAL) >= 0.97
    with_vectors, words = await _gain(store, encoder, MEANT), await _gain(store, None, MEANT)
    assert with_vectors >= 0.9
    assert with_vectors > words + 0.2
