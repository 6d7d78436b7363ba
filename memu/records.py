"""The words of memu as frozen records: what is stored, reported and found.

Times are timezone-aware datetimes in UTC. Paths are POSIX and relative to the workspace's root. Line numbers
start at 1 and both ends belong to the span. Ids are opaque strings of at most 64 characters.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from memu.errors import ScopeError

__all__ = [
    "EMPTY_SCOPE",
    "IMPORTED",
    "EncoderIdentity",
    "ExportReport",
    "FileProblem",
    "Finding",
    "ForgetReceipt",
    "HealthReport",
    "Hit",
    "ImportReport",
    "Kind",
    "Layer",
    "LineSpan",
    "Listing",
    "MemoryType",
    "Origin",
    "OverviewSentence",
    "PageChanges",
    "Passage",
    "RecallEntry",
    "RecallFile",
    "RecallFileEntry",
    "ReindexReport",
    "Resource",
    "RetrieveResult",
    "Scope",
    "ScopeValue",
    "Severity",
    "State",
    "SyncPlan",
    "SyncReport",
    "SyncRun",
    "Track",
    "TreeStatus",
    "Usage",
    "Workspace",
    "WorkspaceStatus",
]

ScopeValue = str | int | bool
"""What a scope field may hold."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class State(StrEnum):
    """How far one source has come."""

    PENDING = "pending"
    DONE = "done"
    PARTIAL = "partial"
    FAILED = "failed"
    SKIPPED = "skipped"


class Kind(StrEnum):
    """What sort of source it is; extraction policy and ranking weights follow it."""

    DOCUMENT = "document"
    CHAT = "chat"
    MEETING = "meeting"
    SESSION = "session"
    MAIL = "mail"
    RULES = "rules"
    CODE = "code"
    TABLE = "table"
    LOG = "log"
    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"


class MemoryType(StrEnum):
    """What sort of thing an entry remembers."""

    PROFILE = "profile"
    EVENT = "event"
    KNOWLEDGE = "knowledge"
    BEHAVIOR = "behavior"
    TOOL = "tool"
    SKILL = "skill"
    DECISION = "decision"
    ACTION = "action"
    RULE = "rule"


class Origin(StrEnum):
    """Whose words an entry is in: the source's own, a model's, or the source's while a model's are awaited."""

    QUOTE = "quote"
    MODEL = "model"
    STAND_IN = "stand_in"


class Track(StrEnum):
    """The two sorts of page."""

    MEMORY = "memory"
    SKILL = "skill"


class Layer(StrEnum):
    """What a search hit is: a page, a remembered entry, or the source itself."""

    FILE = "file"
    ENTRY = "entry"
    RESOURCE = "resource"


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory: the tenancy boundary, known by its canonical JSON ``key``. The empty scope is a scope."""

    key: str

    @classmethod
    def of(cls, fields: Mapping[str, ScopeValue | None] | None = None) -> Scope:
        """The scope of these field values.

        Raises:
            ScopeError: a value is None ("everyone" is never meant by leaving a value open), no str, int or bool,
                or holds what no database keeps.
        """
        values = dict(fields or {})
        for name, value in values.items():
            if value is None:
                raise ScopeError(
                    f"Scope field {name!r} is None; leave the field out to mean the scope without it."
                )
            if not isinstance(value, str | int | bool):
                raise ScopeError(f"Scope field {name!r} is a {type(value).__name__}; give a str, int or bool.")
            if isinstance(value, str) and _UNSTORABLE.search(value):
                raise ScopeError(f"Scope field {name!r} holds a NUL or half a character, which cannot be stored.")
        return cls(json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":")))

    @property
    def fields(self) -> dict[str, ScopeValue]:
        """The field values, a new dict each time."""
        parsed: dict[str, ScopeValue] = json.loads(self.key)
        return parsed

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.fields.items()) or "(empty scope)"


EMPTY_SCOPE = Scope("{}")
IMPORTED = "memu-import"
"""The name of the workspace that holds what was imported, and the folder that its sources' paths begin with."""


@dataclass(frozen=True, slots=True)
class LineSpan:
    """Lines ``start`` to ``end`` of a source, both included, counted from 1."""

    start: int
    end: int

    def __str__(self) -> str:
        return f"L{self.start}" if self.start == self.end else f"L{self.start}-L{self.end}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """One synced folder in a scope. ``name`` is given by the user; without one the real ``root`` identifies it.

    An imported one lies in no folder: its ``root`` is "", no sync looks at it, and its sources are in the store.

    ``version`` grows with every change of its sources; ``assigned`` is the version that pages were last
    settled for, so a crash between the two is seen by the next sync.
    """

    id: str
    name: str | None
    root: str
    version: int = 0
    assigned: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One source and its state. ``seen_ns`` is when its bytes were looked at.

    ``stamp`` tells its file from another of equal size and time, and from itself after any change; 0 is unknown.

    ``facts`` holds what *assign* needs to know of it (tags, headings, series); of an imported one its text too.
    """

    id: str
    workspace_id: str
    path: str
    kind: Kind
    title: str
    caption: str = ""
    content_hash: str = ""
    size: int = 0
    mtime_ns: int = 0
    stamp: int = 0
    seen_ns: int = 0
    state: State = State.PENDING
    reason: str | None = None
    attempts: int = 0
    tried_at: datetime | None = None
    language: str | None = None
    happened_at: datetime | None = None
    redactions: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def kept_text(self) -> str | None:
        """The text of a source that lies in no file ("" where words of it were cut); None for any other source."""
        kept = self.facts.get("kept")
        return kept if isinstance(kept, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallEntry:
    """One remembered thing and where it came from.

    ``text`` is the statement itself; ``label`` (heading path, speaker or parent bullet) stands in front of it
    when shown and is not part of the quote. ``block`` is the Markdown form it takes on a page. ``page_hint`` is
    the page that the extractor named, if any; ``shown`` is decided by *assign*. A model's ``text`` (``origin``)
    is its own wording of what stands in ``lines``.
    """

    id: str
    resource_id: str
    ordinal: int
    memory_type: MemoryType
    track: Track
    text: str
    text_key: str
    lines: LineSpan | None = None
    place: str | None = None
    label: str = ""
    block: str = "bullet"
    page_hint: str | None = None
    section: str | None = None
    origin: Origin = Origin.QUOTE
    shown: bool = True
    happened_at: datetime | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallFile:
    """One Markdown page. ``content`` holds blocks that end in footnote marks; ``version`` grows with each save.

    described_by: the ids of the entries that a model's ``description`` rests on; None where it is made from counts
        and titles.
    """

    id: str
    track: Track
    folded_name: str
    name: str
    description: str = ""
    described_by: tuple[str, ...] | None = None
    content: str = ""
    version: int = 0
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewSentence:
    """One sentence of what a model wrote above a list of pages, and the ids of the pages that it rests on."""

    text: str
    pages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallFileEntry:
    """That a page rests on an entry, and the footnote ``mark`` by which the page cites it ("" until folded).

    ``spelling`` is the page's name as the entry's source spells it; the page shows the lowest of all spellings.
    """

    file_id: str
    entry_id: str
    mark: str = ""
    spelling: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """The unit of search. Exactly one of the three owner ids is set.

    ``header`` (title, heading path, file path, date, speaker) counts double in word ranking and goes in front of
    ``text`` for the encoder.
    """

    id: str
    ordinal: int
    header: str
    text: str
    heading: str = ""
    resource_id: str | None = None
    entry_id: str | None = None
    file_id: str | None = None
    track: Track | None = None
    kind: Kind | None = None
    language: str | None = None
    lines: LineSpan | None = None
    place: str | None = None
    happened_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderIdentity:
    """What makes two vectors comparable: the same name, dimension and fingerprint.

    ``dimension`` is 0 while only a reply could tell it and none has come; it then fits any. ``languages`` are the
    ISO 639-1 codes the encoder knows; empty means every language.
    """

    name: str
    dimension: int
    fingerprint: str
    languages: frozenset[str] = frozenset()


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
        return {"schema": 1, **_plain(self)}


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
            "vectors_missing": self.vectors_missing,
            "redactions": dict(self.redactions),
            "degraded": self.degraded,
            "extractor": self.extractor,
            "encoder": self.encoder,
            "export": self.export.to_dict() if self.export else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReceipt:
    """What was forgotten, or with ``dry_run`` what would be. Only a dry run quotes anything.

    what: "entry", "page", "source", "match", "workspace", "scope"; "undo" and "purge" for those alone.
    texts: the statements, in a dry run. entries: how many entries say them.
    sources: those cut, as paths; removed: those that went whole. unread: cut sources that could not be read anew,
        with the reason. stays: where other sources say what a removed one said, as ``PATH#L10``.
    trees: the exported trees brought up to date. kept_files: files there that the user wrote or edited: memu
        leaves them, whatever they say.
    purged: the store's file was rewritten, no byte is left in it. vacuumed: a server's tables were; their files
        may hold old bytes until these are written over.
    unpatched: pages that a model was to word anew and did not, with the reason; the next sync asks again.
    left: where it is still said, though it was to go, as ``PATH#L10`` or ``memory/NAME``; names do not count.
    usage: what models and the encoder were asked for.
    """

    what: str
    dry_run: bool = False
    entries: int = 0
    texts: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()
    unread: tuple[FileProblem, ...] = ()
    pages: PageChanges = PageChanges()
    trees: tuple[str, ...] = ()
    kept_files: tuple[str, ...] = ()
    purged: bool = False
    vacuumed: bool = False
    unpatched: tuple[FileProblem, ...] = ()
    left: tuple[str, ...] = ()
    usage: Usage = Usage()

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form (``"schema": 1``)."""
        return {"schema": 1, **_plain(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What was brought over from a database of memU, counted over all scopes.

    source: the database, without its password. scopes: those with rows in it. pages, entries, sources, links: what
        came to be. changed: sources whose text was another at the last import; unchanged: those as they were.
    vectors_kept: of passages that keep theirs; vectors_missing: passages that words alone find until they are
        encoded. unplaced: what was not brought over, and why. notes: what was, but not as it was.
    trees: the exported trees brought up to date.
    """

    source: str
    scopes: int = 0
    pages: int = 0
    entries: int = 0
    sources: int = 0
    links: int = 0
    changed: int = 0
    unchanged: int = 0
    vectors_kept: int = 0
    vectors_missing: int = 0
    unplaced: tuple[FileProblem, ...] = ()
    notes: tuple[FileProblem, ...] = ()
    trees: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything found a place."""
        return not self.unplaced

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form (``"schema": 1``)."""
        problems = {name: [each.to_dict() for each in getattr(self, name)] for name in ("unplaced", "notes")}
        return {"schema": 1, "ok": self.ok, **_plain(self), **problems}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexReport:
    """What encoding a store anew came to; counts are read back from its rows, over all scopes.

    previous: whose vectors were searched before; None where there were none. switched: those of ``encoder`` are
        searched since this run. encoded: passages that this run gave a vector; vectors: those that have one now.
    missing: passages that words alone find. removed: vectors of other encoders that were dropped.
    degraded: why it had to stop before the end; the next run goes on.
    """

    encoder: str
    previous: str | None = None
    switched: bool = False
    encoded: int = 0
    vectors: int = 0
    missing: int = 0
    removed: int = 0
    degraded: str | None = None
    usage: Usage = Usage()

    @property
    def ok(self) -> bool:
        """Whether the encoder's vectors are the ones that are searched."""
        return self.degraded is None

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form (``"schema": 1``)."""
        return {"schema": 1, "ok": self.ok, **_plain(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncPlan:
    """What a sync would do: found without writing anything.

    pages: the standing pages that it would touch; which pages new text joins is known only afterwards.
    model_calls: how many of chat models a sync makes at most, in all and ``calls_by_step``. likely_calls: about
        how many, where every reply is of use. encoder_texts: about how many texts are encoded.
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
    encoder_texts: int = 0
    extractor: str = "extractive"
    encoder: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form (``"schema": 1``)."""
        moved = [{"from": old, "to": new} for old, new in self.moved]
        return {"schema": 1, "dry_run": True, **_plain(self), "moved": moved}


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncRun:
    """The stored record of one sync. Once ended it names no page, path or text but those of files now failed.

    usage: what was asked of models, by step.
    """

    id: str
    workspace_id: str
    state: str
    started_at: datetime
    ended_at: datetime | None = None
    extractor: str = "extractive"
    encoder: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    failed: tuple[FileProblem, ...] = ()
    error: str | None = None
    usage: Mapping[str, Usage] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeStatus:
    """How an exported tree stands, told without opening a file of it.

    state: "current"; "stale" (the store changed ``behind`` times since); "changed" (files of it changed since, or
    another memu published it); "missing" (it was published and is gone); "unpublished"; "unreadable".
    """

    tree: str
    state: str
    behind: int = 0
    published_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceStatus:
    """How one workspace stands: for ``memu status`` and for monitors.

    syncing: a sync of it runs now. usage: what the last sync that ended asked of models and encoders.
    blocked: what keeps any sync from writing to the store now.
    confirmed_at: when a scheduled sync last saw that nothing had moved, and ended there without a run of its own.
    unplaced: how many entries no page cites yet. queued, vectors_missing, trees: of the whole scope.
    """

    workspace: Workspace
    last_run: SyncRun | None
    last_good_run: SyncRun | None
    sources: Mapping[str, int]
    failed: tuple[FileProblem, ...]
    skipped: tuple[FileProblem, ...]
    entries: int
    pages: Mapping[str, int]
    queued: int
    vectors_missing: int
    extractor: str
    encoder: str | None
    unplaced: int = 0
    syncing: bool = False
    blocked: str | None = None
    confirmed_at: datetime | None = None
    usage: Usage = Usage()
    trees: tuple[TreeStatus, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no file stands as failed, the last sync neither failed nor was killed nor did anything without
        the model or encoder that should have, and the next one can write."""
        run = self.last_run
        broken = run is not None and (bool(run.error) or (run.state == "running" and not self.syncing))
        broken = broken or (run is not None and bool(run.counts.get("unpatched")))
        return not (self.failed or broken or self.usage.unanswered or self.blocked)

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form (``"schema": 1``)."""
        return {"schema": 1, "ok": self.ok, **_plain(self)}


class Severity(StrEnum):
    """How bad a finding is. A notice asks for nothing and leaves a store healthy."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is not as it should be. ``subject`` is what it is about: a source, a page, a tree, the store.

    An error is wrong data; a warning is work left or something that waits for a person.
    """

    check: str
    severity: Severity
    subject: str
    message: str
    remedy: str

    def to_dict(self) -> dict[str, str]:
        return {name: str(value) for name, value in _plain(self).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReport:
    """What an examination of the store found. ``checked``: check → how many things it looked at."""

    findings: tuple[Finding, ...] = ()
    checked: Mapping[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether nothing worse than a notice was found."""
        return all(finding.severity is Severity.NOTICE for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form (``"schema": 1``)."""
        findings = [finding.to_dict() for finding in self.findings]
        return {"schema": 1, "ok": self.ok, "findings": findings, "checked": dict(self.checked)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One answer. ``score``, from 0 to 1, orders the hits; ``ranks`` gives the place in each list that found it.

    weak: the score is one that right answers seldom have; None where it is not known what this encoder's mean.
    scores: where an explanation was asked for, BM25 ("words"), "cosine", and what orders ("fused").

    turn, card: in an agent session, whose hits stand together by turn, turns in the order of their best.
    earlier: something that was said later names it as no more; that stands above it.
    """

    layer: Layer
    score: float
    text: str
    title: str
    track: Track | None = None
    heading: str = ""
    path: str | None = None
    lines: LineSpan | None = None
    place: str | None = None
    time: datetime | None = None
    id: str = ""
    ranks: Mapping[str, int] = field(default_factory=dict)
    turn: int | None = None
    card: str = ""
    weak: bool | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    earlier: bool = False

    def to_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = {"turn": self.turn, "card": self.card} if self.turn is not None else {}
        told |= {"earlier": True} if self.earlier else {}
        told |= {"scores": {name: round(each, 6) for name, each in self.scores.items()}} if self.scores else {}
        return {
            "layer": self.layer.value,
            "track": self.track.value if self.track else None,
            "title": self.title,
            "heading": self.heading,
            "path": self.path,
            "lines": [self.lines.start, self.lines.end] if self.lines else None,
            "place": self.place,
            "time": self.time.isoformat() if self.time else None,
            "score": round(self.score, 6),
            "weak": self.weak,
            "ranks": dict(self.ranks),
            "text": self.text,
            "id": self.id,
            **told,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveResult:
    """The answer to one query, best first. ``degraded`` says why part of the search could not take place.

    explanation: where it was asked for, what the answer was taken from ("filters"), how much was "found" by each
    list, the "most" that words could score, and what was cut ("cuts").
    """

    hits: tuple[Hit, ...]
    degraded: str | None = None
    explanation: Mapping[str, Mapping[str, Any]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form; it never echoes the query."""
        told = {"explanation": dict(self.explanation)} if self.explanation is not None else {}
        return {"schema": 1, "hits": [hit.to_dict() for hit in self.hits], "degraded": self.degraded, **told}

    def to_prompt(self, max_words: int = 800) -> str:
        """The hits as one block for a prompt: quoted, each with its source, at most ``max_words`` words in all."""
        from memu.quotation import to_prompt

        return to_prompt(self, max_words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One thing fetched by reference: a page, a source or an entry, with its text and where it comes from.

    text: in a list, a page's description and a source's caption instead.
    page: of an entry, the page that it stands on as ``track/name``, the first by name of several; None while it
        stands on none. notice: of a source, why the text is not that of its raw lines; None where it is.
    state: of a source in a list, how far it has come.
    """

    reference: str
    layer: Layer
    title: str
    text: str
    track: Track | None = None
    path: str | None = None
    lines: LineSpan | None = None
    place: str | None = None
    id: str = ""
    memory_type: MemoryType | None = None
    page: str | None = None
    time: datetime | None = None
    notice: str | None = None
    state: State | None = None

    def to_dict(self) -> dict[str, Any]:
        return _plain(self)


def _plain(record: Any) -> dict[str, Any]:
    return {item.name: _plain_value(getattr(record, item.name)) for item in dataclasses.fields(record)}


def _plain_value(value: Any) -> Any:
    if isinstance(value, LineSpan):
        return [value.start, value.end]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _plain_value(item) for key, item in value.items()}
    if isinstance(value, tuple | list | frozenset):
        return [_plain_value(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain(value)
    return value
