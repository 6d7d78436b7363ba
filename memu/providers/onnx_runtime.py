"""onnxruntime, brought in with its telemetry off: the embedded encoder writes to no home and asks no network."""

from __future__ import annotations

import os
from types import ModuleType

__all__ = ["import_runtime", "usable_cores"]


def import_runtime() -> ModuleType:
    """The module ``onnxruntime``.

    Since 1.32 its import alone writes an id of the device and a database of events to the user's cache and looks
    up the host they are sent to. The variable is read once, at the import; whoever has set it meant it. The
    call is for a runtime that this process's app imported before.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    module: ModuleType = onnxruntime
    return module


def usable_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
