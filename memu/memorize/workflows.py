"""The write workflows as tables of steps, wired to their collaborators."""

from __future__ import annotations

from typing import Any

from memu.memorize.append_steps import AppendFirst, append_workflow
from memu.memorize.assign_step import AssignPages
from memu.memorize.collaborators import Collaborators
from memu.memorize.embed_beside import FoldBeside
from memu.memorize.extract_step import Extract
from memu.memorize.file_steps import Commit, Parse, Read, redact_text
from memu.memorize.file_survey import CompareFiles, ScanFolder
from memu.memorize.file_work import (
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
from memu.workflow import Step, Workflow

__all__ = ["Collaborators", "write_workflows"]


def write_workflows(parts: Collaborators) -> dict[str, Workflow[Any]]:
    """sync, append, memorize, assign, fold and embed, by name."""
    append = append_workflow(parts.database, parts.max_file_bytes)
    workflows = (_sync(parts), append, _memorize(parts), _assign(parts), _fold(parts), _embed(parts))
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
            MemorizeFiles(
                database,
                AppendFirst(carry) if parts.appends else carry,
                concurrency,
                import_folding if parts.models else None,
            ),
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
    read, said = (
        ["data", "content_hash", "text", "damage", "document", "skipped"],
        ["data", "text", "document", "log"],
    )
    return Workflow(
        "memorize",
        MemorizeState,
        ["scope", "workspace_id", "root", "file", "began", "untrusted", "offered", "meter"],
        [
            Step("read", Read(parts.max_file_bytes), ["root", "file"], [*read, "log"]),
            Step("perceive", Perceive(parts.database, parts.media), Perceive.reads, Perceive.writes),
            Step("redact", redact_text, ["file", "text", "document", "skipped", "log"], [*said, "redactions"]),
            Step(
                "parse",
                Parse(),
                ["file", "text", "damage", "document", "redactions", "skipped", "log"],
                ["text", "redactions", "document", "language", "passages", "log"],
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
            Commit(parts.database, parts.max_file_bytes if parts.appends else None),
            [
                *("root", "log", "damage", "redactions"),
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
