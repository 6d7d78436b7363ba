"""What memu wrote in a tree, kept in the tree: it decides only what may be overwritten or removed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memu.errors import ConfigurationError, ScopeError
from memu.records import Scope

__all__ = ["MANIFEST", "Manifest", "parse_manifest", "render_manifest"]

MANIFEST = ".memu-export.json"
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """``files`` holds the SHA-256 of what lies there, ``pending`` of what a publish under way will put there.

    A file with either hash is memu's own; any other is the user's. Paths are relative to the tree.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    pending: Mapping[str, str] = field(default_factory=dict)

    def owns(self, path: str, digest: str) -> bool:
        """Whether a file of this content is what memu wrote at this path."""
        return digest in {self.files.get(path), self.pending.get(path)}

    @property
    def digests(self) -> Iterable[tuple[str, str]]:
        """Every path with what lies there or is coming."""
        return (dict(self.pending) | dict(self.files)).items()

    @property
    def paths(self) -> frozenset[str]:
        """Every path at which something of ours may lie."""
        return frozenset(self.files) | frozenset(self.pending)


def parse_manifest(data: bytes, scope: Scope) -> Manifest:
    """The manifest in these bytes; an empty one where they are damaged, for then nothing is known to be ours.

    Raises:
        ConfigurationError: the tree holds the memory of another scope.
    """
    try:
        value = json.loads(data)
        owner = Scope.of(value["scope"])
    except (ValueError, RecursionError, TypeError, KeyError, ScopeError):
        return Manifest()
    if owner != scope:
        raise ConfigurationError(f"This tree holds the memory of {owner}, not of {scope}; give another --out.")
    return Manifest(files=_parse_files(value.get("files")), pending=_parse_files(value.get("pending")))


def render_manifest(manifest: Manifest, scope: Scope) -> bytes:
    """Its JSON, the same bytes for the same values."""
    value: dict[str, Any] = {"scope": scope.fields, "files": dict(manifest.files)}
    if manifest.pending:
        value["pending"] = dict(manifest.pending)
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode("utf-8")


def _parse_files(value: object) -> dict[str, str]:
    """The well-formed items: a path that leads out of the tree is never believed."""
    if not isinstance(value, dict):
        return {}
    return {
        path: digest
        for path, digest in value.items()
        if isinstance(digest, str) and _SHA256.fullmatch(digest) and _is_inside(path)
    }


def _is_inside(path: str) -> bool:
    clean = path.isprintable() and path != MANIFEST
    return clean and not any(part in {"", ".", ".."} for part in path.split("/"))
