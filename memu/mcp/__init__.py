"""A workspace's memory for other agents, by the Model Context Protocol: few tools over one scope of one store."""

from __future__ import annotations

__all__: list[str] = []
