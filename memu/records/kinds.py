"""The sorts of things that memu tells apart, and where in a text something stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Kind", "Layer", "LineSpan", "MemoryType", "Origin", "Severity", "State", "Track"]


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


class Severity(StrEnum):
    """How bad a finding is. A notice asks for nothing and leaves a store healthy."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class LineSpan:
    """Lines ``start`` to ``end`` of a source, both included, counted from 1."""

    start: int
    end: int

    def __str__(self) -> str:
        return f"L{self.start}" if self.start == self.end else f"L{self.start}-L{self.end}"
