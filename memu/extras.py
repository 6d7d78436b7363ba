"""How the optional parts of memu are installed."""

from __future__ import annotations

__all__ = ["install_command"]


def install_command(extra: str) -> str:
    """How an extra of memu is installed, in words. Not by name: in the package index ``memu`` is another's."""
    return f"pip install '.[{extra}]' in memu's checkout"
