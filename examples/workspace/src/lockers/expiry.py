"""When a booking ends and what happens to its parcel."""

from datetime import datetime, timedelta

HOLD = timedelta(hours=48)
"""How long a parcel waits for its customer."""


def expires_at(stored: datetime) -> datetime:
    """The moment at which the unlock code stops working: 48 hours after the parcel was stored."""
    return stored + HOLD


def is_overdue(stored: datetime, now: datetime) -> bool:
    """Whether the parcel must go back to the sender. Both times are in UTC."""
    return now >= expires_at(stored)
