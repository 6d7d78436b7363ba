"""How long a request may take, when it is made again, and how long to wait before that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["QUICK", "Patience", "asked_wait", "is_passing"]

_PASSING = frozenset({408, 409, 425, 429})
_FINAL = frozenset({501, 505})


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Bounds of one request with all its tries; times are in seconds.

    total: for all tries and the waits between them. connect, read: for a connection, and between two bytes.
    first_wait: before the second try; each further one waits twice as long, at most ``longest_wait``.
    """

    attempts: int = 5
    total: float = 180.0
    connect: float = 10.0
    read: float = 60.0
    first_wait: float = 0.5
    longest_wait: float = 20.0

    def backoff(self, failed: int, jitter: float) -> float:
        """The wait after so many failed tries; ``jitter`` in [0, 1) spreads it over its upper half."""
        # Beyond 2⁶⁰ no wait is meant, and no float is much further.
        longest: float = min(self.longest_wait, self.first_wait * 2.0 ** min(failed - 1, 60))
        return longest * (1.0 + jitter) / 2.0


QUICK = Patience(attempts=2, total=10.0, connect=3.0, read=8.0, first_wait=0.25)
"""For somebody who waits for an answer that words can give as well."""


def is_passing(status: int) -> bool:
    """Whether a refusal with this HTTP status may be gone with the next try."""
    return status in _PASSING or (status >= 500 and status not in _FINAL)


def asked_wait(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds that the server asks to wait: ``Retry-After`` as seconds or as a date (RFC 9110, 10.2.3)."""
    asked = headers.get("retry-after", "").strip()
    try:
        seconds = float(asked)
    except ValueError:
        return _until(asked, headers.get("date", ""), now)
    return None if math.isnan(seconds) else min(max(seconds, 0.0), 1e9)


def _until(asked: str, sent: str, now: datetime) -> float | None:
    """Seconds until a date, by the server's clock where it tells the time."""
    date = _read_date(asked)
    if date is None:
        return None
    return max(0.0, (date - (_read_date(sent) or now)).total_seconds())


def _read_date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
