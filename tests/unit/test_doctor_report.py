"""What the doctor says: findings in their order, bounded, with commands that can be pasted anywhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from memu.cli.doctor import describe_health
from memu.doctor.checked import Checked, merge
from memu.doctor.remedies import Remedies
from memu.doctor.store_checks import check_locks
from memu.doctor.tree_checks import check_tree
from memu.export.examination import TreeExamination
from memu.records import EMPTY_SCOPE, Finding, HealthReport, Scope, Severity, TreeStatus
from memu.storage.lock import AbandonedLock

pytestmark = pytest.mark.unit

ALICE, BOB = Scope.of({"user_id": "alice"}), Scope.of({"user_id": "bob"})
REMEDIES = Remedies(scope=EMPTY_SCOPE, url=make_url("sqlite:////srv/notes/.memu/memu.sqlite3"))


def finding(subject: str, severity: Severity = Severity.ERROR, check: str = "pages") -> Finding:
    return Finding(check=check, severity=severity, subject=subject, message="m", remedy="r")


def test_the_worst_comes_first_and_counts_are_added_up() -> None:
    one = Checked(check="pages", count=2, findings=(finding("b"), finding("n", Severity.NOTICE)))
    two = Checked(check="export", count=3, findings=(finding("w", Severity.WARNING, "export"),))
    report = merge([(ALICE, one), (None, two), (ALICE, Checked(check="pages", count=4))])
    assert [each.subject for each in report.findings] == ["b", "w", "n"]
    assert report.checked == {"export": 3, "pages": 6}


def test_of_several_scopes_each_finding_names_its_own() -> None:
    checked = Checked(check="pages", count=1, findings=(finding("memory/A"),))
    assert [each.subject for each in merge([(ALICE, checked)]).findings] == ["memory/A"]
    told = [each.subject for each in merge([(ALICE, checked), (BOB, checked), (None, checked)]).findings]
    assert told == ["memory/A", "memory/A (user_id=alice)", "memory/A (user_id=bob)"]


@pytest.mark.parametrize("count", [0, 1, 50, 51, 400])
def test_findings_of_one_check_are_bounded_and_the_others_counted(count: int) -> None:
    found = tuple(finding(f"{at:03}") for at in range(count))
    report = merge([(ALICE, Checked(check="pages", count=count, findings=found))])
    assert len(report.findings) == min(count, 51)
    more = [each.message for each in report.findings if each.subject == "more"]
    assert more == ([f"{count - 50} more of this kind are not listed."] if count > 50 else [])


@pytest.mark.parametrize(
    ("severities", "ok"),
    [
        ([], True),
        ([Severity.NOTICE], True),
        ([Severity.NOTICE, Severity.WARNING], False),
        ([Severity.ERROR], False),
    ],
)
def test_a_notice_leaves_a_store_healthy(severities: list[Severity], ok: bool) -> None:
    report = HealthReport(findings=tuple(finding("x", each) for each in severities), checked={"pages": 3})
    assert report.ok is ok
    document = report.to_dict()
    assert (document["schema"], document["ok"], document["checked"]) == (1, ok, {"pages": 3})
    assert [each["severity"] for each in document["findings"]] == [str(each) for each in severities]
    assert ("healthy" in list(describe_health(report))[-1][0]) is ok


def test_lines_for_people_have_what_is_wrong_and_what_to_do() -> None:
    lines = [text for text, _ in describe_health(HealthReport(findings=(finding("memory/A"),), checked={"a": 0}))]
    assert lines == ["error: pages: memory/A", "  m", "  r", "1 error (looked at: )"]


@pytest.mark.parametrize("root", ["/srv/notes", "/srv/my notes", "/srv/it's $HOME"])
def test_commands_keep_odd_names_whole_and_name_scope_and_store(root: str) -> None:
    remedies = Remedies(scope=Scope.of({"user_id": "a b"}), url=make_url("sqlite:////srv/x.sqlite3"))
    tail = ["--user", "user_id=a b", "--db", "sqlite:////srv/x.sqlite3"]
    for remedy, words in (
        (remedies.sync(root, "--retry-failed"), [["sync", root, "--retry-failed"]]),
        (remedies.export(Path(root)), [["export", "--out", root]]),
        (remedies.rebuild(root), [["workspace", "remove", root, "--yes"], ["sync", root]]),
    ):
        commands = [shlex.split(each) for each in re.findall(r"`(.+?)`", remedy)]
        assert commands == [["memu", *each, *tail] for each in words]


def test_a_sync_publishes_where_the_pages_are_asked_for() -> None:
    remedies = Remedies(scope=EMPTY_SCOPE, url=REMEDIES.url, find_out=lambda root: Path("/srv/out"))
    assert "memu sync /srv/notes --out /srv/out --db" in remedies.sync("/srv/notes")
    assert "memu sync /srv/notes --out /srv/out --db" in remedies.rebuild("/srv/notes")


def test_p11_a_servers_url_stays_out_of_commands() -> None:
    remedies = Remedies(scope=EMPTY_SCOPE, url=make_url("postgresql://bob:secret@db/memu"))
    assert remedies.sync("/srv/notes") == "Run `memu sync /srv/notes`."


def tree(state: str = "current", **examined: object) -> list[tuple[Severity, str]]:
    status = TreeStatus(tree="/out/t", state=state, behind=2 if state == "stale" else 0)
    checked = check_tree(status, TreeExamination(**examined), REMEDIES, Severity.WARNING)  # type: ignore[arg-type]
    assert all("memu export --out /out" in each.remedy for each in checked.findings if each.severity != "notice")
    return [(each.severity, each.message) for each in checked.findings]


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("current", []),
        ("changed", []),
        ("stale", [(Severity.WARNING, "The store changed 2 times since it was published.")]),
        ("missing", [(Severity.WARNING, "It was published and is gone.")]),
        ("unpublished", [(Severity.WARNING, "It was never published.")]),
        ("unreadable", [(Severity.WARNING, "It cannot be read.")]),
    ],
)
def test_states_of_a_tree(state: str, told: list[tuple[Severity, str]]) -> None:
    assert tree(state) == told


def test_files_of_a_tree() -> None:
    assert [severity for severity, _ in tree(missing=("a",), changed=("b", "c"), leftovers=("d",))] == [
        Severity.WARNING
    ] * 4
    [(severity, message)] = tree(extra=tuple("abcdefg"))
    assert (severity, message) == (Severity.NOTICE, "Files that are not memu's: a, b, c, d, e and 2 more.")
    assert tree(trouble="no manifest", missing=("a",)) == [(Severity.ERROR, "no manifest.")]


def test_a_lock_left_behind_is_a_notice() -> None:
    checked = check_locks([AbandonedLock(file="/x.holder", holder="process 3 since noon")])
    assert [(each.severity, each.subject) for each in checked.findings] == [(Severity.NOTICE, "/x.holder")]
    assert "process 3 since noon" in checked.findings[0].message
