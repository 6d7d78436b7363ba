"""The mark that lets a scheduled sync of a folder in which nothing moved end before it opens the store.

A quiet sync that found nothing to do leaves ``idle.json`` beside the store: one digest of everything that its
outcome hangs on. The next one looks at all of it again, by names, sizes and times alone, and ends there if the
digest is the same. Whatever is in doubt leads to a whole sync; see docs/adr/0081-the-idle-mark.md.
"""

from __future__ import annotations

from memu.idle.mark import IdleMark, IdleWatch, confirmed_at, read_mark

__all__ = ["IdleMark", "IdleWatch", "confirmed_at", "read_mark"]
