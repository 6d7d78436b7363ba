"""What the export workflow carries from step to step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from memu.export.plan import Plan
from memu.export.snapshot import SourceKey, TreeSnapshot
from memu.export.survey import Survey
from memu.records import ExportReport, Scope

__all__ = ["ExportState", "ResourceMode"]

ResourceMode = Literal["link", "copy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportState:
    """One export of one scope into one tree.

    tree: the tree's folder, symbolic links resolved. force: paths in the tree to take over from the user.
    copies: redacted bytes of sources, None when they are linked. files: what the tree would hold if nothing of
    the user's stood in the way.
    """

    scope: Scope
    tree: Path
    resources: ResourceMode = "link"
    force: frozenset[str] = frozenset()
    snapshot: TreeSnapshot | None = None
    copies: Mapping[SourceKey, bytes] | None = None
    files: Mapping[str, bytes] | None = None
    survey: Survey | None = None
    plan: Plan | None = None
    report: ExportReport | None = None
