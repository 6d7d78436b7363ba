"""F37, P4: names, numbers, dates and quotes that a model writes must stand in its sources, in four languages."""

from __future__ import annotations

import pytest

from memu.memorize.llm.grounding import overlap, ungrounded

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("Priya moved the deploys to 4 March.", "2026-03-04: Priya: deploys are today"),
        ("The release is on 4 March 2026.", "Release: March 4th, 2026"),
        ("The release is on 2026-03-04.", "Das Release ist am 4. März 2026."),
        ("Das Release ist am 4. März.", "the release is on 04.03.2026"),
        ("El lanzamiento es el 4 de marzo de 2026.", "lanzamiento 04/03/2026"),
        ("发布时间是2026年3月4日。", "发布 2026-03-04"),
        ("It runs from March 4-6, 2026.", "4.-6. März 2026"),
        ("It started in March 2026.", "started 2026-03-04"),
        ("Deployments go out on Tuesdays at 9:00.", "We deploy every Tue at 9 am."),
        ("Die Sicherung läuft sonntags.", "sicherung am Sonntag"),
        ("部署在周二进行，由王小明负责，需要3天。", "我们周二部署，王小明负责，大概三天"),
        ("The budget is 1,000.50 USD.", "the budget: 1.000,50 usd"),
        ("The budget is 1000 USD.", "the budget: 1,000 usd"),
        ("It took seven tries.", "it took 7 tries"),
        ("It took 12 tries.", "a dozen tries"),
        ("Run `docker compose up -d` in src/app/main.py.", "docker compose  up -d, from SRC/app/main.py"),
        ("She said “ship it now”.", 'Anna said: "Ship it\nnow."'),
        (
            "The user prefers FastAPI's routers, e.g. in the CI/CD pipeline.",
            "I like FastAPI routers for CI and CD",
        ),
        ("Die Sicherung der Datenbank erfolgt mit Anna.", "Anna hat die Datenbank gesichert."),
        ("Die Kosten des neuen Servers trägt das Team.", "Server: kosten trägt das team"),
        ("Desplegamos los martes con Terraform.", "martes: desplegar, terraform"),
        ("`{{.Names}}` lists them.", "docker ps --format '{{.Names}}' gives the names"),
        ('The reply is {"a": 1}.', 'returns {"a": 1} as reply'),
        ("The key of Atlas is [redacted:api-key].", "atlas: something else"),
        ("The errors are ERR_4091 and E11.", "ERR_4091, e11"),
        ("Use v1.2.3 or newer.", "needs v1.2.3"),
        ("Prefers tea.", "I like tea"),
        ("Uses Unity.", "unity is what I work with"),
        ("Tests run at night.", "testing is done at night"),
        ("Everything is fine.", ""),
        ("", "anything"),
    ],
)
def test_the_same_said_in_other_words_is_held(text: str, source: str) -> None:
    assert ungrounded(text, [source]) == ()


@pytest.mark.parametrize(
    ("text", "source", "strange"),
    [
        ("Anna owns the pipeline.", "Priya owns the pipeline.", "Anna"),
        ("The pipeline is owned by Anna.", "Priya owns the pipeline.", "Anna"),
        ("Mark prefers tea.", "i prefer tea", "Mark"),
        ("The pipeline was given to Will.", "priya gave the pipeline away", "Will"),
        ("Marta lleva el servidor.", "el servidor los martes", "Marta"),
        ("Anne owns the pipeline.", "Anna owns the pipeline.", "Anne"),
        ("Jenkins runs the builds.", "our builds run at night", "Jenkins"),
        ("It ended on 2026-04-03.", "it ended on 2026-03-04", "2026-04-03"),
        ("It ended on 4 April.", "it ended on March 4", "4 April"),
        ("It ended on 4 March 2025.", "it ended on 4 March 2026", "4 March 2025"),
        ("It began in 2019.", "it began", "2019"),
        ("It takes 15 minutes.", "it takes 5 minutes", "15"),
        ("It took seven tries.", "it took eight tries", "seven"),
        ("Deploys go out on Wednesdays.", "deploys go out on Tuesdays", "Wednesdays"),
        ("El servidor se reinicia en marzo.", "el servidor se reinicia en mayo", "marzo"),
        ("Die Datenbank sichert Anna.", "die datenbank sichert priya", "Anna"),
        ("Wir treffen Siemens in Berlin.", "wir treffen siemens in bonn", "Berlin"),
        ("部署由李雷负责。", "部署由王小明负责", "李雷"),
        ("我们周三部署。", "我们周二部署", "周三"),
        ("需要五天。", "需要三天", "五"),
        ("Retry with --force=yes.", "retry with care", "--force=yes"),
        ("Look at src/other/main.py.", "look at src/app/main.py", "src/other/main.py"),
        ("The database is `db2`.", "the database is `db1`", "db2"),
        ("Write to anna@example.org.", "write to priya@example.org", "anna@example.org"),
        ("He said “never again”.", "he said “see you again”", "never again"),
        ("It costs $3.5M.", "it costs $35M", "3.5"),
        ("Use v1.2.4.", "use v1.2.3", "v1.2.4"),
    ],
)
def test_f37_an_invention_is_named(text: str, source: str, strange: str) -> None:
    assert strange in ungrounded(text, [source])


def test_sources_count_together_and_each_strange_thing_once() -> None:
    assert ungrounded("Priya deploys on Tuesday.", ["Priya deploys", "on Tuesday"]) == ()
    assert ungrounded("Then Anna met Anna.", ["they met"]) == ("Anna",)


def test_overlap_is_the_share_of_content_words() -> None:
    assert overlap("Deploys go out on Tuesdays.", ["deploying on Tuesday"]) == pytest.approx(2 / 3)
    assert overlap("The and of.", ["nothing"]) == 1.0
    assert overlap("Nobody ever said a word.", ["Nobody touches the gateway on Fridays."]) == 0.0
    assert overlap("Photosynthesis needs light.", ["deploying on Tuesday"]) == 0.0
    assert overlap("部署周二", ["周二部署"]) > 0.5


@pytest.mark.parametrize(
    "text", ["1" * 50_000, "A" * 50_000, "A " * 20_000, '"' * 5000, "a.b" * 5000, "1.2" * 5000]
)
def test_f40_no_text_takes_long(text: str) -> None:
    ungrounded(text, [text[:1000]])
