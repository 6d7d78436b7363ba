"""What a sync, a plan of one and an export say that they did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from memu.records.plain import plain

__all__ = ["ExportReport", "FileProblem", "PageChanges", "SyncPlan", "SyncReport", "Usage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What models and encoders were asked for.

    unanswered: calls given up, in spite of their retries. cost: USD, of the calls whose model has a price.
    """

    calls: int = 0
    texts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unanswered: int = 0
    cost: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            texts=self.texts + other.texts,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            unanswered=self.unanswered + other.unanswered,
            cost=self.cost + other.cost,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileProblem:
    """A file that was skipped or failed, and why."""

    path: str
    reason: str

    def to_dict(self) -> dict[str, str]:
        return {"path": self.path, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChanges:
    """Pages by what happened to them, as ``track/name``."""

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, list[str]]:
        return {"created": list(self.created), "changed": list(self.changed), "removed": list(self.removed)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """What publishing a tree did. Paths are relative to ``tree``.

    ``kept`` are a user's own files that stood where ours belong: ours went to ``x.memu.md`` instead.
    """

    tree: str
    written: tuple[str, ...] = ()
    unchanged: int = 0
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"schema": 1, **plain(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What one sync did, as the ``--json`` of the command line gives it.

    resumed: the sync before was killed and this one finished what it left; ``pages`` says nothing of what that one
        did, ``export`` what is published only now.
    waiting: files left for the next sync because a cap was reached.
    unplaced: how many entries no page cites yet, for the same reason or since others kept changing that page.
    failed: files that failed, those that a model read only in part among them.
    unpatched: what was done without the model that should have, and why: pages, by name; "names of pages";
        overviews, as "MEMORY.md" and "SKILL.md".
    stopped: the cap that was reached, in words.
    dropped: what a model said that its source does not back, by reason.
    damaged: files read now of which something had to be passed over, path → what was wrong → how often.
    usage: what was asked of models and encoders, in all and ``by_step``.
    """

    workspace: str
    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: int = 0
    skipped: tuple[FileProblem, ...] = ()
    failed: tuple[FileProblem, ...] = ()
    resumed: bool = False
    waiting: tuple[str, ...] = ()
    unplaced: int = 0
    pages: PageChanges = PageChanges()
    unpatched: tuple[FileProblem, ...] = ()
    stopped: str | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    damaged: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    usage: Usage = Usage()
    by_step: Mapping[str, Usage] = field(default_factory=dict)
    vectors_missing: int = 0
    redactions: Mapping[str, int] = field(default_factory=dict)
    degraded: str | None = None
    extractor: str = "extractive"
    encoder: str | None = None
    export: ExportReport | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing failed, and only a cap kept a model from its part (skipped files are no failure)."""
        return not self.failed and all(problem.reason == self.stopped for problem in self.unpatched)

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form (``"schema": 1``)."""
        return {
            "schema": 1,
            "workspace": self.workspace,
            "added": list(self.added),
            "modified": list(self.modified),
            "moved": [{"from": old, "to": new} for old, new in self.moved],
            "deleted": list(self.deleted),
            "unchanged": self.unchanged,
            "skipped": [problem.to_dict() for problem in self.skipped],
            "failed": [problem.to_dict() for problem in self.failed],
            "resumed": self.resumed,
            "waiting": list(self.waiting),
            "unplaced": self.unplaced,
            "pages": self.pages.to_dict(),
            "calls": self.usage.calls,
            "tokens": {"prompt": self.usage.prompt_tokens, "completion": self.usage.completion_tokens},
            "cost": self.usage.cost,
            "by_step": {step: asdict(usage) for step, usage in self.by_step.items()},
            "unpatched": [problem.to_dict() for problem in self.unpatched],
            "stopped": self.stopped,
            "dropped": dict(self.dropped),
            "damaged": {path: dict(counts) for path, counts in self.damaged.items()},
            "vectors_missing": self.vectors_missing,
            "redactions": dict(self.redactions),
            "degraded": self.degraded,
            "extractor": self.extractor,
            "encoder": self.encoder,
            "export": self.export.to_dict() if self.export else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncPlan:
    """What a sync would do: found without writing anything.

    pages: the standing pages that it would touch; which pages new text joins is known only afterwards.
    model_calls: how many of chat models a sync makes at most, in all and ``calls_by_step``. likely_calls: about
        how many, where every reply is of use. prompt_tokens: about how many their prompts have.
    encoder_texts, encoder_tokens: about how many texts are encoded, and their tokens.
    """

    workspace: str
    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    retried: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: int = 0
    skipped: tuple[FileProblem, ...] = ()
    failed: tuple[FileProblem, ...] = ()
    pages: tuple[str, ...] = ()
    model_calls: int = 0
    likely_calls: int = 0
    calls_by_step: Mapping[str, int] = field(default_factory=dict)
    prompt_tokens: int = 0
    encoder_texts: int = 0
    encoder_tokens: int = 0
    extractor: str = "extractive"
    encoder: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form (``"schema": 1``)."""
        moved = [{"from": old, "to": new} for old, new in self.moved]
        return {"schema": 1, "dry_run": True, **plain(self), "moved": moved}
