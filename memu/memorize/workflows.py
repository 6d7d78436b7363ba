"""The write workflows as tables of steps, wired to their collaborators."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memu.memorize.assign_step import AssignPages
from memu.memorize.embed_beside import FoldBeside
from memu.memorize.extract_step import Extract
from memu.memorize.extractors.protocol import Extractor
from memu.memorize.file_steps import Commit, Parse, Read, redact_text
from memu.memorize.file_survey import CompareFiles, ScanFolder
from memu.memorize.file_work import (
    Carry,
    EmbedScope,
    ExportTree,
    FoldPages,
    MemorizeFiles,
)
from memu.memorize.forget.steps import CutForgotten, PassOverForgotten
from memu.memorize.name_step import SettleNames
from memu.memorize.offer import OfferNames
from memu.memorize.opening import OpenWorkspace
from memu.memorize.overview_step import WriteOverviews
from memu.memorize.page_steps import (
    ApplyAssignment,
    LoadCandidates,
    LoadPage,
    SavePage,
    check_page,
    settle_pages,
)
from memu.memorize.perceive_step import Perceive, list_overcome
from memu.memorize.render_step import RenderPage, import_folding
from memu.memorize.reporting import WriteReport
from memu.memorize.settlement import SettleFiles
from memu.memorize.states import AssignState, EmbedState, FoldState, MemorizeState, SyncState
from memu.memorize.vector_steps import CountMissing, EmbedPassages
from memu.providers.protocols import Encoder
from memu.records import ExportReport, Scope
from memu.storage.database import Database
from memu.workflow import Step, Workflow

if TYPE_CHECKING:
    from memu.providers.models import ChatModels, MediaModels

__all__ = ["Collaborators", "write_workflows"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collaborators:
    """What the steps work with.

    models: which chat model each step asks; None where none is to be asked. media: who looks and listens.
    export: publishes a scope's tree, for the workspace at a root; None where there was nothing to do.
    outputs: export trees and stores that a scan leaves out. max_file_bytes: larger files are skipped.
    """

    database: Database
    extractor: Extractor
    encoder: Encoder | None
    carry: Carry
    models: ChatModels | None
    media: MediaModels | None
    export: Callable[[Scope, Path], Awaitable[ExportReport | None]]
    outputs: tuple[Path, ...]
    max_file_bytes: int
    concurrency: int


def write_workflows(parts: Collaborators) -> dict[str, Workflow[Any]]:
    """sync, memorize, assign, fold and embed, by name."""
    workflows = (_sync(parts), _memorize(parts), _assign(parts), _fold(parts), _embed(parts))
    return {workflow.name: workflow for workflow in workflows}


def _sync(parts: Collaborators) -> Workflow[SyncState]:
    inputs = ("scope", "folder", "name", "allow_empty", "only", "removals", "retry_failed", "synthesize", "meter")
    return Workflow("sync", SyncState, inputs, [*_survey_steps(parts), *_work_steps(parts)])


def _survey_steps(parts: Collaborators) -> tuple[Step[SyncState], ...]:
    database = parts.database
    return (
        Step(
            "open",
            OpenWorkspace(database, parts.encoder, parts.extractor.name),
            ["scope", "folder", "name"],
            ["folder", "name", "workspace", "run_id"],
        ),
        Step(
            "scan",
            ScanFolder(parts.outputs, parts.max_file_bytes),
            ["folder", "only"],
            ["began", "scan", "untrusted"],
        ),
        Step("pass_over", PassOverForgotten(database), ["scope", "workspace", "scan"], ["scan"]),
        Step(
            "diff",
            CompareFiles(database, parts.extractor.name if parts.models else None, list_overcome(parts.media)),
            [
                *("scope", "folder", "allow_empty", "only", "removals", "retry_failed"),
                *("workspace", "began", "scan", "untrusted"),
            ],
            ["diff", "never_read"],
        ),
        Step("settle", SettleFiles(database), ["scope", "workspace", "began", "scan", "diff"]),
        Step("offer", OfferNames(database, parts.models), ["scope", "run_id", "diff"], ["offered"]),
    )


def _work_steps(parts: Collaborators) -> tuple[Step[SyncState], ...]:
    database, carry, concurrency = parts.database, parts.carry, parts.concurrency
    return (
        Step(
            "memorize",
            MemorizeFiles(database, carry, concurrency, import_folding if parts.models else None),
            ["scope", "folder", "meter", "workspace", "began", "untrusted", "diff", "offered"],
            ["outcomes"],
        ),
        *_page_steps(parts),
        Step(
            "overview",
            WriteOverviews(database, parts.models),
            ["scope", "synthesize", "meter", "unpatched"],
            ["unpatched"],
        ),
        Step(
            "embed",
            EmbedScope(carry),
            ["scope", "meter", "degraded"],
            ["vectors_missing", "degraded"],
        ),
        Step("export", ExportTree(parts.export), ["scope", "folder"], ["export"]),
        Step(
            "report",
            WriteReport(database, parts.encoder, parts.extractor.name),
            [
                *("scope", "workspace", "run_id", "scan", "diff", "never_read", "outcomes", "pages", "unpatched"),
                *("meter", "vectors_missing", "degraded", "export", "untrusted"),
            ],
            ["report"],
        ),
    )


def _page_steps(parts: Collaborators) -> tuple[Step[SyncState], ...]:
    database, carry = parts.database, parts.carry
    fold = FoldPages(database, carry, parts.concurrency)
    return (
        Step(
            "assign",
            AssignPages(database, carry, asks=parts.models is not None),
            ["scope", "workspace", "meter", "retry_failed"],
            ["unpatched"],
        ),
        Step(
            "fold",
            fold if parts.models is None or parts.encoder is None else FoldBeside(fold, carry),
            ["scope", "meter", "retry_failed", "unpatched"],
            ["pages", "unpatched", "degraded"],
        ),
    )


def _memorize(parts: Collaborators) -> Workflow[MemorizeState]:
    read, said = ["data", "content_hash", "text", "damage", "document", "skipped"], ["data", "text", "document"]
    return Workflow(
        "memorize",
        MemorizeState,
        ["scope", "workspace_id", "root", "file", "began", "untrusted", "offered", "meter"],
        [
            Step("read", Read(parts.max_file_bytes), ["root", "file"], read),
            Step("perceive", Perceive(parts.database, parts.media), Perceive.reads, Perceive.writes),
            Step("redact", redact_text, ["file", "text", "document", "skipped"], [*said, "redactions"]),
            Step(
                "parse",
                Parse(),
                ["file", "text", "damage", "document", "redactions", "skipped"],
                ["text", "redactions", "document", "language", "passages"],
            ),
            Step(
                "forget",
                CutForgotten(parts.database),
                ["scope", "file", "content_hash", "language", "document"],
                ["skipped", "document", "passages", "forgotten"],
            ),
            *_keep_steps(parts),
        ],
    )


def _keep_steps(parts: Collaborators) -> tuple[Step[MemorizeState], ...]:
    return (
        Step(
            "extract",
            Extract(parts.database, parts.extractor, parts.models),
            [
                *("scope", "workspace_id", "file", "content_hash", "document", "untrusted", "offered"),
                *("meter", "forgotten"),
            ],
            ["untrusted", "candidates", "dropped", "lost", "chunks", "read_by", "extractor", "prompts"],
        ),
        Step(
            "commit",
            Commit(parts.database),
            [
                *("scope", "workspace_id", "file", "content_hash", "document", "perceived", "candidates"),
                "passages",
                *("forgotten", "untrusted", "dropped", "lost", "chunks", "read_by", "extractor", "prompts"),
            ],
            ["outcome"],
        ),
    )


def _assign(parts: Collaborators) -> Workflow[AssignState]:
    return Workflow(
        "assign",
        AssignState,
        ["scope", "workspace_id", "meter", "tried", "due"],
        [
            Step(
                "load",
                LoadCandidates(parts.database),
                ["scope", "workspace_id"],
                ["version", "standing", "sources", "candidates"],
            ),
            Step(
                "names",
                SettleNames(parts.database, parts.models),
                ["scope", "workspace_id", "meter", "standing", "candidates", "tried", "due"],
                ["candidates", "failed", "tried", "due"],
            ),
            Step("settle", settle_pages, ["sources", "candidates"], ["assignment"]),
            Step(
                "apply",
                ApplyAssignment(parts.database),
                ["scope", "workspace_id", "version", "assignment"],
                ["queued"],
            ),
        ],
    )


def _fold(parts: Collaborators) -> Workflow[FoldState]:
    return Workflow(
        "fold",
        FoldState,
        ["scope", "file_id", "ticket", "meter", "insist"],
        [
            Step(
                "load",
                LoadPage(parts.database),
                ["scope", "file_id", "insist"],
                ["page", "name", "marks", "entries", "tried", "due"],
            ),
            Step(
                "render",
                RenderPage(parts.database, parts.models),
                ["scope", "file_id", "meter", "page", "name", "marks", "entries", "tried", "due"],
                ["rendered", "model", "prompts", "failed", "waiting"],
            ),
            Step("check", check_page, ["name", "rendered"], []),
            Step(
                "commit",
                SavePage(parts.database),
                [
                    *("scope", "file_id", "ticket", "page", "name", "rendered", "model", "prompts", "tried"),
                    *("failed", "waiting"),
                ],
                ["saved", "change"],
            ),
        ],
    )


def _embed(parts: Collaborators) -> Workflow[EmbedState]:
    return Workflow(
        "embed",
        EmbedState,
        ["scope", "meter", "degraded"],
        [
            Step(
                "encode",
                EmbedPassages(parts.database, parts.encoder),
                ["scope", "meter", "degraded"],
                ["degraded"],
            ),
            Step("count", CountMissing(parts.database, parts.encoder), ["scope"], ["missing"]),
        ],
    )
