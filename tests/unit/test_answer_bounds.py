"""Bounds of an answer as an app writes them: each is understood in one way, and what is not is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memu.errors import ConfigurationError
from memu.records import EMPTY_SCOPE, Kind, Layer, MemoryType
from memu.retrieve.bounds import bound
from memu.retrieve.states import ask
from memu.storage.search import EVERYTHING, SearchFilter

pytestmark = pytest.mark.unit

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_without_bounds_all_is_open() -> None:
    assert bound() == EVERYTHING


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 1, 23, 59, 59, 999999, tzinfo=UTC)),
        ("2026-03-01T12:00", NOON, NOON),
        ("2026-03-01 12:00:00Z", NOON, NOON),
        ("2026-03-01T14:00+02:00", NOON, NOON),
    ],
)
def test_a_text_is_one_moment_and_a_date_its_whole_day(text: str, first: datetime, last: datetime) -> None:
    wanted = bound(since=text, until=text, changed_since=text, changed_until=text)
    assert (wanted.since, wanted.until) == (first, last)
    assert (wanted.changed_since, wanted.changed_until) == (first, last)


@given(st.datetimes(min_value=datetime(1900, 1, 2), timezones=st.just(timezone(timedelta(hours=5)))))  # noqa: DTZ001
def test_a_datetime_and_its_text_are_the_same_bound(moment: datetime) -> None:
    assert bound(since=moment) == bound(since=moment.isoformat())


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        ({"since": "yesterday"}, "since: 'yesterday' is no date"),
        ({"changed_until": "2026-13-01"}, "changed_until: "),
        ({"since": datetime(2026, 3, 1)}, "since has no time zone"),  # noqa: DTZ001
        ({"since": "2026-03-02", "until": "2026-03-01"}, "is before since"),
        ({"kinds": ["letter"]}, "kinds: there is no 'letter'"),
        ({"memory_types": ["fact"]}, "memory_types: there is no 'fact'"),
        ({"path": " "}, "path is empty"),
    ],
)
def test_what_cannot_be_meant_is_refused(bounds: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        bound(**bounds)  # type: ignore[arg-type]


BY_SOURCE = [
    {"path": "docs/**"},
    {"kinds": [Kind.CODE]},
    {"memory_types": [MemoryType.EVENT]},
    {"since": NOON},
    {"changed_until": NOON},
]


def asked(within: SearchFilter, layers: list[str] | None) -> frozenset[Layer]:
    return ask((EMPTY_SCOPE,), "q", layers=layers, tracks=None, max_hits=1, max_words=None, within=within).layers


@pytest.mark.parametrize("bounds", BY_SOURCE, ids=lambda bounds: next(iter(bounds)))
def test_pages_are_no_hits_within_bounds_that_no_page_can_meet(bounds: dict[str, object]) -> None:
    within = bound(**bounds)  # type: ignore[arg-type]
    assert asked(within, None) == {Layer.ENTRY, Layer.RESOURCE}
    assert asked(within, ["file", "entry"]) == {Layer.ENTRY}
    with pytest.raises(ConfigurationError, match="Pages have no path"):
        asked(within, ["file"])


def test_a_workspace_has_pages() -> None:
    assert asked(bound(workspace_id="w"), None) == frozenset(Layer)
    assert asked(bound(workspace_id="w"), ["file"]) == {Layer.FILE}
