"""The ``.memu`` folder inside a user's own: made so that git never takes it up by accident."""

from __future__ import annotations

from pathlib import Path

from memu.errors import ConfigurationError, UnavailableError

__all__ = ["ensure_private"]

_IGNORE_EVERYTHING = "*\n"


def ensure_private(folder: Path) -> None:
    """Make the folder, with a ``.gitignore`` of ``*`` in it; one that is there already is left as it is.

    Raises:
        ConfigurationError: the folder is a symbolic link or a file. A synced folder is not trusted to say where
            its memory is written.
        UnavailableError: the disk refused.
    """
    try:
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise ConfigurationError(f"{folder} is a link or a file; move it away, or give --db and --out.")
        folder.mkdir(parents=True, exist_ok=True)
        _write_once(folder / ".gitignore", _IGNORE_EVERYTHING)
    except OSError as error:
        raise UnavailableError(f"{folder} cannot be made: {error.strerror or error}.") from error


def _write_once(path: Path, text: str) -> None:
    if path.is_symlink() or path.exists():
        return
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.unlink(missing_ok=True)
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
