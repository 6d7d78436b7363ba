"""A scripted server of models on loopback: it answers as told, well or badly, and notes what it was asked."""

from __future__ import annotations

import base64
import email
import json
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from memu.providers.fakes import HashingEncoder

__all__ = [
    "Act",
    "Asked",
    "ScriptedServer",
    "answer",
    "chat",
    "completion",
    "cut_short",
    "embed",
    "embedding_reply",
    "garbage",
    "hang",
    "later",
    "letter",
    "reset",
    "scripted_server",
    "trickle",
]


@dataclass(frozen=True)
class Asked:
    """One request as it came in; the names of headers are in small letters."""

    path: str
    headers: Mapping[str, str]
    body: Any


Handler = BaseHTTPRequestHandler
Act = Callable[[Handler, Asked, threading.Event], None]
"""What the server does with one request; the event is set when the server ends."""


def answer(status: int, body: object = None, **headers: str) -> Act:
    """Answer with this status and JSON; an underscore in a header's name stands for a hyphen."""

    def act(handler: Handler, asked: Asked, ended: threading.Event) -> None:
        data = json.dumps({} if body is None else body).encode()
        _send(handler, status, data, {name.replace("_", "-"): value for name, value in headers.items()})

    return act


def garbage(data: bytes) -> Act:
    """Answer with 200 and these bytes."""
    return lambda handler, asked, ended: _send(handler, 200, data, {})


def cut_short(handler: Handler, asked: Asked, ended: threading.Event) -> None:
    """Promise more bytes than come, and close."""
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.close_connection = True


def reset(handler: Handler, asked: Asked, ended: threading.Event) -> None:
    """Tear the connection down without a word."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True


def hang(handler: Handler, asked: Asked, ended: threading.Event) -> None:
    """Say nothing for as long as the server stands."""
    ended.wait(30)
    handler.close_connection = True


def trickle(handler: Handler, asked: Asked, ended: threading.Event) -> None:
    """A byte now and then, without an end."""
    handler.send_response(200)
    handler.send_header("content-length", "100000")
    handler.end_headers()
    while not ended.wait(0.02):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def embed(handler: Handler, asked: Asked, ended: threading.Event) -> None:
    """Answer as a good embedding server does, with packed vectors where they are asked for."""
    reply = embedding_reply(asked.body["input"])
    if asked.body.get("encoding_format") == "base64":
        for each in reply["data"]:
            packed = struct.pack(f"<{len(each['embedding'])}f", *each["embedding"])
            each["embedding"] = base64.b64encode(packed).decode()
    _send(handler, 200, json.dumps(reply).encode(), {})


def embedding_reply(texts: list[str], dimension: int = 16) -> dict[str, Any]:
    """What a good embedding server answers: texts that share words are near."""
    vectors = HashingEncoder(dimension)
    data = [
        {"object": "embedding", "index": index, "embedding": vectors._vector(text).tolist()}
        for index, text in enumerate(texts)
    ]
    tokens = sum(len(text.split()) for text in texts)
    return {"object": "list", "data": data, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}


def completion(content: object = "Because.", finish: str | None = "stop", **message: object) -> dict[str, Any]:
    """What a server of chat completions answers; 11 tokens read, 3 written."""
    return {
        "choices": [{"message": {"content": content, **message}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3},
    }


def letter(text: str = "Because.", stop: str = "end_turn") -> dict[str, Any]:
    """What a server of Anthropic messages answers."""
    content = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": text}]
    return {"content": content, "stop_reason": stop, "usage": {"input_tokens": 7, "output_tokens": 2}}


def chat(write: str | Callable[[list[dict[str, str]]], str] = "[]") -> Act:
    """Answer a chat with this text, or with what the function writes for its messages; a word is a token."""

    def act(handler: Handler, asked: Asked, ended: threading.Event) -> None:
        messages = asked.body["messages"]
        text = write if isinstance(write, str) else write(messages)
        told = completion(text)
        told["usage"] = {
            "prompt_tokens": sum(len(each["content"].split()) for each in messages),
            "completion_tokens": len(text.split()),
        }
        _send(handler, 200, json.dumps(told).encode(), {})

    return act


def later(seconds: float, act: Act) -> Act:
    """Do this after so many seconds."""

    def wait(handler: Handler, asked: Asked, ended: threading.Event) -> None:
        ended.wait(seconds)
        act(handler, asked, ended)

    return wait


@dataclass
class ScriptedServer:
    """Does each of ``script`` once, in order; then ``usual`` for ever. ``asked`` are the requests so far."""

    usual: Act
    script: deque[Act] = field(default_factory=deque)
    asked: list[Asked] = field(default_factory=list)
    port: int = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def then(self, *acts: Act) -> None:
        self.script.extend(acts)

    def next_act(self) -> Act:
        return self.script.popleft() if self.script else self.usual


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away in the middle is what many tests are about."""


@contextmanager
def scripted_server(usual: Act = embed, *script: Act) -> Iterator[ScriptedServer]:
    """A server on a free port of loopback, for as long as the block lasts."""
    scripted = ScriptedServer(usual, deque(script))
    ended, lock = threading.Event(), threading.Lock()

    class Handling(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # One packet a reply: two of them wait for one another.
        wbufsize = 65536
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["content-length"]))
            headers = {k.lower(): v for k, v in self.headers.items()}
            asked = Asked(self.path, headers, _read_body(headers.get("content-type", ""), data))
            with lock:
                scripted.asked.append(asked)
                act = scripted.next_act()
            act(self, asked, ended)

        def log_message(self, *arguments: Any) -> None:
            """Nothing on stderr."""

    server = _Quiet(("127.0.0.1", 0), Handling)
    scripted.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield scripted
    finally:
        ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _read_body(kind: str, data: bytes) -> Any:
    """JSON; of a form its fields, a file's as name, type and bytes."""
    if not kind.startswith("multipart/form-data"):
        return json.loads(data)
    message = email.message_from_bytes(b"content-type: " + kind.encode() + b"\r\n\r\n" + data)
    body: dict[str, Any] = {}
    for part in message.get_payload():
        name = str(part.get_param("name", header="content-disposition"))
        payload = part.get_payload(decode=True)
        file = part.get_filename()
        body[name] = (file, part.get_content_type(), payload) if file else payload.decode()
    return body


def _send(handler: Handler, status: int, data: bytes, headers: Mapping[str, str]) -> None:
    # Without the clock's date, so that a test's own is the only one.
    handler.send_response_only(status)
    for name, value in {"content-type": "application/json", "content-length": str(len(data)), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)
