"""What comes after a removal where no byte may be left of it: the store is written anew, or it is said why not."""

from __future__ import annotations

from dataclasses import replace

from memu.errors import MemuError
from memu.records import ForgetReceipt
from memu.storage.database import Database

__all__ = ["purge_store"]


async def purge_store(database: Database, receipt: ForgetReceipt, *, wait_seconds: float = 30.0) -> ForgetReceipt:
    """Compact the store; the receipt then says so.

    What was removed is gone from every answer already, whatever comes of this. So a receipt of something is given
    in any case, and says why the store could not be compacted and what to do.

    ``wait_seconds``: for those who read a file.

    Raises:
        ConfigurationError, BusyError, StoreError: it could not be compacted, and nothing else was asked for.
    """
    try:
        rewritten = await database.compact(wait_seconds=wait_seconds)
    except MemuError as error:
        if receipt.what == "purge":
            raise
        return replace(receipt, unpurged=str(error))
    return replace(receipt, purged=rewritten, vacuumed=not rewritten)
