"""Caps of calls and money, kept by everyone at once. Local endpoints only, where that is demanded. P5."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memu.errors import CapReached, ConfigurationError, ProviderError
from memu.providers.endpoint import Endpoint, require_local
from memu.providers.meter import Meter
from memu.providers.prices import estimate_tokens, foresee_cost, price_usage, require_prices
from memu.providers.protocols import ChatMessage
from memu.records import Usage

pytestmark = pytest.mark.unit

CALL = Usage(calls=1, prompt_tokens=10, completion_tokens=2, cost=0.01)


def test_a_meter_counts_by_step_and_in_all() -> None:
    meter = Meter()
    for step in ("extract", "fold", "extract"):
        meter.reserve()
        meter.settle(step, CALL)
    meter.reserve()
    meter.settle("fold", Usage(unanswered=1))
    assert meter.by_step == {"extract": CALL + CALL, "fold": CALL + Usage(unanswered=1)}
    assert meter.usage == CALL + CALL + CALL + Usage(unanswered=1)
    assert meter.stopped is None


def test_calls_in_flight_count_as_made() -> None:
    meter = Meter(max_calls=2)
    meter.reserve()
    meter.reserve()
    with pytest.raises(CapReached, match="2 calls"):
        meter.reserve()
    # One that was never answered gives its place back.
    meter.settle("extract", Usage(unanswered=1))
    meter.reserve()
    assert meter.stopped is not None


@pytest.mark.parametrize("cap", [0, 1, 7])
def test_a_cap_of_calls_is_never_passed_by_many_tasks_and_threads(cap: int) -> None:
    meter = Meter(max_calls=cap)
    made, denied, lock = [0], [0], threading.Lock()

    async def call() -> None:
        try:
            meter.reserve()
        except CapReached:
            denied[0] += 1
            return
        with lock:
            made[0] += 1
        await asyncio.sleep(0)
        meter.settle("extract", CALL)

    async def many() -> None:
        await asyncio.gather(*(call() for _ in range(50)))

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(asyncio.run, many()) for _ in range(4)]:
            done.result()
    assert (made[0], meter.usage.calls) == (cap, cap)


def test_a_cap_of_money_counts_what_is_foreseen_of_calls_in_flight() -> None:
    meter = Meter(max_cost=0.1)
    meter.reserve(0.04)
    meter.reserve(0.04)
    with pytest.raises(CapReached, match=r"0\.1 USD"):
        meter.reserve(0.04)
    meter.settle("fold", Usage(calls=1, cost=0.01))
    meter.reserve(0.04)


def test_without_foresight_the_dearest_call_so_far_is_what_one_may_cost() -> None:
    meter = Meter(max_cost=0.125)
    for cost in (0.06, 0.02):
        meter.reserve()
        meter.settle("fold", Usage(calls=1, cost=cost))
    with pytest.raises(CapReached):
        meter.reserve()
    meter.reserve(0.03)


@given(
    calls=st.lists(st.tuples(st.floats(0.001, 1), st.floats(0, 1), st.booleans()), max_size=60),
    cap=st.floats(0, 5),
)
def test_a_cap_of_money_is_never_passed_where_foresight_holds(
    calls: list[tuple[float, float, bool]], cap: float
) -> None:
    """No call costs more than was foreseen of it."""
    meter, flying = Meter(max_cost=cap), list[float]()
    for foreseen, share, lands in calls:
        try:
            meter.reserve(foreseen)
        except CapReached:
            continue
        flying.append(foreseen * share)
        if lands:
            meter.settle("fold", Usage(calls=1, cost=flying.pop(0)))
    for cost in flying:
        meter.settle("fold", Usage(calls=1, cost=cost))
    assert meter.usage.cost <= cap + 1e-9


def test_a_cap_is_no_bad_reply() -> None:
    assert issubclass(CapReached, ProviderError)


def test_money_is_tokens_times_the_price_of_a_million() -> None:
    usage = Usage(calls=1, prompt_tokens=2_000_000, completion_tokens=500_000)
    assert price_usage(usage, (0.15, 0.6)).cost == pytest.approx(0.6)
    assert price_usage(usage, None) == usage
    assert (usage + price_usage(usage, (1, 1))).cost == pytest.approx(2.5)


def test_what_a_call_may_cost_grows_with_prompt_and_reply() -> None:
    short, long = (ChatMessage(role="user", content="word " * count) for count in (10, 1000))
    assert foresee_cost([short], None, 100) == 0
    assert foresee_cost([short], (1, 1), 100) < foresee_cost([long], (1, 1), 100)
    assert foresee_cost([short], (1, 1), 100) < foresee_cost([short], (1, 1), 200)


@pytest.mark.parametrize(("text", "tokens"), [("", 1), ("word " * 400, 501), ("部署在星期二进行。" * 100, 676)])
def test_tokens_are_estimated_for_words_and_chinese(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_a_cap_of_money_without_a_price_would_cap_nothing() -> None:
    require_prices(["a"], {"a": (1, 1), "b": (1, 1)})
    with pytest.raises(ConfigurationError, match="price of b, c"):
        require_prices(["c", "a", "b"], {"a": (1, 1)})


@pytest.mark.parametrize(
    "url", ["http://localhost:1234/v1", "http://127.0.0.1/v1", "http://[::1]:8080", "http://x.localhost/v1"]
)
def test_an_endpoint_on_this_machine_is_local(url: str) -> None:
    require_local({"default": Endpoint(model="m", base_url=url)})


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example/v1",
        "http://192.168.1.5:8000/v1",
        "http://localhost.example/v1",
        "http://127.0.0.1.example/v1",
        "http://localhost@api.example/v1",
    ],
)
def test_every_endpoint_that_is_elsewhere_is_named(url: str) -> None:
    here = Endpoint(model="here", base_url="http://localhost/v1")
    there = Endpoint(model="there", base_url=url)
    away = {"default": here, "fold": there, "overview": there, "embed": Endpoint(model="e", base_url=url)}
    with pytest.raises(ConfigurationError) as raised:
        require_local(away)
    assert "(fold, overview)" in str(raised.value)
    assert "(embed)" in str(raised.value)
    assert "here" not in str(raised.value).replace("elsewhere", "").replace("there", "")
