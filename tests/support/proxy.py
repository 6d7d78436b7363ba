"""A wire between a client and a Postgres server that can be cut: at once, or around a commit."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from sqlalchemy.engine import URL, make_url

__all__ = ["Wire", "wired"]

# The end of the text tells it from "READ COMMITTED".
_COMMIT = b"COMMIT\0"


@dataclass
class Wire:
    """``cut_commits``: how many of the next commits are cut off, before the server knows or ``after`` that."""

    listener: socket.socket
    target: URL
    cut_commits: int = 0
    after: bool = False
    _open: set[socket.socket] = field(default_factory=set)

    @property
    def url(self) -> str:
        host, port = self.listener.getsockname()
        changed = self.target.set(host=host, port=port, query={})
        return changed.render_as_string(hide_password=False)

    def cut(self) -> None:
        """Break every connection that stands."""
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """No connection any more, standing or new."""
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()

    def serve(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = self._connect()
            self._open |= {client, server}
            threading.Thread(target=self._carry, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._carry, args=(server, client, False), daemon=True).start()

    def _connect(self) -> socket.socket:
        folder = self.target.query.get("host")
        if folder:
            server = socket.socket(socket.AF_UNIX)
            server.connect(f"{folder}/.s.PGSQL.{self.target.port or 5432}")
            return server
        return socket.create_connection((self.target.host or "localhost", self.target.port or 5432))

    def _carry(self, source: socket.socket, sink: socket.socket, to_server: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if to_server and self.cut_commits > 0 and _COMMIT in data:
                    self.cut_commits -= 1
                    # Its answer is read by nobody: the other way is cut first.
                    with suppress(OSError):
                        source.shutdown(socket.SHUT_RDWR)
                    if self.after:
                        sink.sendall(data)
                    break
                sink.sendall(data)
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_WR if self.after and to_server and each is sink else socket.SHUT_RDWR)
            if not (each is sink and to_server):
                self._open.discard(each)
                each.close()


@contextmanager
def wired(url: str) -> Iterator[Wire]:
    """A wire to the server of ``url``."""
    wire = Wire(listener=socket.create_server(("127.0.0.1", 0)), target=make_url(url))
    thread = threading.Thread(target=wire.serve, daemon=True)
    thread.start()
    try:
        yield wire
    finally:
        wire.close()
        thread.join()
