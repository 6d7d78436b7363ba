"""memu: the memory of a workspace.

    from memu import MemoryService

    async with MemoryService.open(folder="notes") as memu:
        await memu.memorize_workspace("notes")
        result = await memu.retrieve_workspace("when do we deploy?")

Each public name is loaded from its module when it is first used, so that ``import memu`` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memu.errors import (
        BusyError,
        CapReached,
        ConfigurationError,
        EncoderMismatch,
        ExtraMissing,
        LeaseLost,
        MemuError,
        NotFound,
        ProviderError,
        ReadError,
        ReplyError,
        RootError,
        SchemaOutdated,
        SchemaTooNew,
        ScopeError,
        StoreError,
        UnavailableError,
        WorkflowError,
    )
    from memu.export.state import ExportState
    from memu.memorize.states import (
        AssignState,
        EmbedState,
        FoldState,
        MemorizeState,
        Outcome,
        SyncState,
    )
    from memu.records import (
        EMPTY_SCOPE,
        IMPORTED,
        EncoderIdentity,
        ExportReport,
        FileProblem,
        Finding,
        ForgetReceipt,
        HealthReport,
        Hit,
        ImportReport,
        Kind,
        Layer,
        LineSpan,
        Listing,
        MemoryType,
        Origin,
        OverviewSentence,
        PageChanges,
        Passage,
        RecallEntry,
        RecallFile,
        RecallFileEntry,
        ReindexReport,
        Resource,
        RetrieveResult,
        Scope,
        ScopeValue,
        Severity,
        State,
        SyncPlan,
        SyncReport,
        SyncRun,
        Track,
        TreeStatus,
        Usage,
        Workspace,
        WorkspaceStatus,
    )
    from memu.retrieve.evaluation import EvalReport, Question
    from memu.retrieve.states import RetrieveState
    from memu.service import MemoryService
    from memu.settings import Settings, WorkspaceScope
    from memu.workflow import Interceptor, LocalRunner, Runner, Step, StepEvent, Workflow

__all__ = [
    "EMPTY_SCOPE",
    "IMPORTED",
    "AssignState",
    "BusyError",
    "CapReached",
    "ConfigurationError",
    "EmbedState",
    "EncoderIdentity",
    "EncoderMismatch",
    "EvalReport",
    "ExportReport",
    "ExportState",
    "ExtraMissing",
    "FileProblem",
    "Finding",
    "FoldState",
    "ForgetReceipt",
    "HealthReport",
    "Hit",
    "ImportReport",
    "Interceptor",
    "Kind",
    "Layer",
    "LeaseLost",
    "LineSpan",
    "Listing",
    "LocalRunner",
    "MemorizeState",
    "MemoryService",
    "MemoryType",
    "MemuError",
    "NotFound",
    "Origin",
    "Outcome",
    "OverviewSentence",
    "PageChanges",
    "Passage",
    "ProviderError",
    "Question",
    "ReadError",
    "RecallEntry",
    "RecallFile",
    "RecallFileEntry",
    "ReindexReport",
    "ReplyError",
    "Resource",
    "RetrieveResult",
    "RetrieveState",
    "RootError",
    "Runner",
    "SchemaOutdated",
    "SchemaTooNew",
    "Scope",
    "ScopeError",
    "ScopeValue",
    "Settings",
    "Severity",
    "State",
    "Step",
    "StepEvent",
    "StoreError",
    "SyncPlan",
    "SyncReport",
    "SyncRun",
    "SyncState",
    "Track",
    "TreeStatus",
    "UnavailableError",
    "Usage",
    "Workflow",
    "WorkflowError",
    "Workspace",
    "WorkspaceScope",
    "WorkspaceStatus",
]

_MODULES = (
    "memu.errors",
    "memu.records",
    "memu.workflow",
    "memu.settings",
    "memu.service",
    "memu.export.state",
    "memu.memorize.states",
    "memu.retrieve.states",
    "memu.retrieve.evaluation",
)


def __getattr__(name: str) -> Any:
    if name in __all__:
        # An error or a record is found before anything heavy is loaded, the service before what only a sync needs.
        for module_name in _MODULES:
            module = importlib.import_module(module_name)
            if name in module.__all__:
                value = getattr(module, name)
                globals()[name] = value
                return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
