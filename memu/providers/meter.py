"""What models were asked for in one run, and the caps that it keeps: no call is begun that would pass them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from memu.errors import CapReached, ConfigurationError
from memu.records import Usage

__all__ = ["Meter"]

_NEXT = "the next sync goes on from here"


class Meter:
    """Counts calls and money by step, and says no when another call would pass a cap.

    A call is reserved before it is made and settled afterwards, whatever came of it. Calls in flight count as
    made, and as costing what was foreseen of them (what the dearest call so far cost, where nothing was): a cap
    of calls is never passed; a cap of money at most by what the calls in flight cost more than was foreseen.
    Tasks and threads may share it.

    Args:
        max_calls: answered calls. max_cost: USD; it only sees calls whose model has a price. None: no cap.
        at_once: turns that are given at once, in one event loop.
    """

    def __init__(self, *, max_calls: int | None = None, max_cost: float | None = None, at_once: int = 8) -> None:
        self._max_calls = max_calls
        if max_cost is not None and not max_cost >= 0:
            raise ConfigurationError(f"A cap of {max_cost} USD is none; give an amount, as in --max-cost 0.50.")
        self._max_cost = max_cost
        self._lock = threading.Lock()
        self._by_step: dict[str, Usage] = {}
        self._total = Usage()
        self._dearest = 0.0
        self._held: list[float] = []
        self._stopped: str | None = None
        self._outages: dict[str, str] = {}
        self._turns = asyncio.Semaphore(at_once)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until fewer calls than allowed are under way, and be one of them until the block ends."""
        async with self._turns:
            yield

    @property
    def usage(self) -> Usage:
        """All that was settled."""
        with self._lock:
            return self._total

    @property
    def by_step(self) -> Mapping[str, Usage]:
        """What was settled, by step; a copy."""
        with self._lock:
            return dict(self._by_step)

    @property
    def capped(self) -> bool:
        """Whether calls or money have a cap."""
        return self._max_calls is not None or self._max_cost is not None

    @property
    def stopped(self) -> str | None:
        """Why a call was not made; None while none was denied."""
        with self._lock:
            return self._stopped

    def reserve(self, cost: float = 0.0) -> None:
        """Begin a call that is foreseen to cost so many USD.

        Raises:
            CapReached: it would pass a cap; nothing is reserved.
        """
        with self._lock:
            reason = self._refusal(cost)
            if reason is not None:
                # Whatever a cap left undone is told by the same words.
                self._stopped = self._stopped or reason
                raise CapReached(self._stopped)
            self._held.append(cost)

    def settle(self, step: str, usage: Usage) -> None:
        """End a call for ``step``: ``usage`` is what it came to; all zero where it was never answered.

        Of several in flight the one that was foreseen to be cheapest counts as ended, so that no cap is passed
        for it. Without a call in flight it is only counted.
        """
        with self._lock:
            if self._held:
                self._held.remove(min(self._held))
            self._total += usage
            self._by_step[step] = self._by_step.get(step, Usage()) + usage
            self._dearest = max(self._dearest, usage.cost)

    def note_outage(self, model: str, reason: str) -> None:
        """Remember that a model gave no answer in spite of all tries: whoever asks next need not wait for that."""
        with self._lock:
            self._outages.setdefault(model, reason)

    def outage(self, model: str) -> str | None:
        """Why this model is not asked any more in this run; None while it answers."""
        with self._lock:
            return self._outages.get(model)

    def _refusal(self, cost: float) -> str | None:
        """Why one more call is too many; None if it is not."""
        if self._max_calls is not None and self._total.calls + len(self._held) >= self._max_calls:
            return f"The cap of {self._max_calls} calls is reached; {_NEXT}."
        if self._max_cost is None:
            return None
        foreseen = sum(each or self._dearest for each in (*self._held, cost))
        if self._total.cost >= self._max_cost or self._total.cost + foreseen > self._max_cost:
            return (
                f"The cap of {self._max_cost:g} USD is reached ({self._total.cost:.4g} spent, another call may "
                f"cost {cost or self._dearest:.2g}); {_NEXT}."
            )
        return None
