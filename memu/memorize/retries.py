"""When a file that failed is tried again: at the next sync first, then after growing intervals."""

from __future__ import annotations

from datetime import datetime, timedelta

__all__ = ["is_due"]

_FIRST = timedelta(minutes=1)
_LONGEST = timedelta(days=1)


def is_due(attempts: int, tried_at: datetime | None, now: datetime) -> bool:
    """Whether a file that failed ``attempts`` times, last at ``tried_at``, is to be tried at ``now``.

    The first retry is immediate; then 1, 2, 4 … minutes lie between tries, at most a day.
    """
    if tried_at is None or attempts <= 1:
        return True
    distance: timedelta = min(_FIRST * 2 ** min(attempts - 2, 20), _LONGEST)
    return now - tried_at >= distance
