"""A server that misbehaves in every way that a client must survive; both SDKs are tested against it.

The first segment of the path is the scenario, and a name of the test: `/broken-once~name/v1/…`. `/log/<segment>` answers what was
requested there.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import socket
import threading
from typing import Any

CALL: dict[str, Any] = {
    "id": "call_1", "contactId": None, "campaignId": None, "agentId": "agt_1", "channel": "voice", "direction": "outbound", "status": "completed",
    "state": "ended", "outcome": None, "toNumber": "+919812345678", "fromNumber": "+918045670009", "answered": True, "answeredAt": "2026-01-01T00:00:02.000Z",
    "answeredBy": None, "endCause": "agent_ended", "startedAt": "2026-01-01T00:00:00.000Z", "endedAt": "2026-01-01T00:00:10.000Z", "durationSeconds": 8,
    "metadata": {}, "flowVersion": 1, "contactName": None, "agentName": "Asha", "chargedMinor": 0,
}  # fmt: skip
PLACED = {"placed": True, "interactionId": "call_1", "providerCallId": "prov_1"}
DONE = {"data": {"reply": "Within 30 days.", "ended": False, "handedOff": False}}


class Stub(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.log: dict[str, list[dict[str, Any]]] = {}
        self.stopped = threading.Event()

    def url(self, segment: str = "") -> str:
        return f"http://127.0.0.1:{self.server_port}/{segment}".rstrip("/")

    def shutdown(self) -> None:
        self.stopped.set()
        super().shutdown()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is part of the tests."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Stub

    def log_message(self, format: str, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        _, segment, *rest = self.path.split("/", 2)
        if segment == "log":
            return self.answer(200, {"data": self.server.log.get(rest[0], [])})
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length).decode("utf-8", "replace")
        with self.server.lock:
            log = self.server.log.setdefault(segment, [])
            log.append({"method": self.command, "path": "/" + rest[0], "key": self.headers.get("idempotency-key"), "body": body, "headers": {name.lower(): value for name, value in self.headers.items()}})
            attempt = len(log)
        scenario = segment.partition("~")[0].replace("-", "_")
        getattr(self, f"do_{scenario}")(attempt, "/" + rest[0])

    do_POST = do_PUT = do_DELETE = do_PATCH = do_GET

    def answer(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "x-request-id": "req_stub", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def good(self, path: str) -> None:
        self.answer(200, PLACED if self.command == "POST" else {"data": CALL})

    def cut(self) -> None:
        """The connection is reset without an answer."""
        with contextlib.suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        self.close_connection = True
        self.connection.close()

    def stream(self, *pieces: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("x-request-id", "req_stub")
        self.end_headers()
        self.close_connection = True
        for piece in pieces:
            self.wfile.write(piece.encode())
            self.wfile.flush()

    # A later version of the service.

    def do_newer(self, attempt: int, path: str) -> None:
        newer = {**CALL, "state": "meditating", "aField": {"of": ["a later version"]}, "answeredBy": "robot", "direction": "sideways"}
        if "next" in path:
            self.answer(200, {"data": [{**newer, "id": "call_2"}], "nextCursor": None, "mood": "good"})
        elif path.startswith("/v1/calls?") or path == "/v1/calls":
            self.answer(200, {"data": [newer], "nextCursor": "next", "mood": "good"})
        elif path == "/v1/me":
            self.answer(418, {"error": "a teapot", "code": "a_new_code", "meta": {"field": "tea", "aMember": 1}, "docUrl": "/docs/errors/a_new_code", "more": 1})
        else:
            self.answer(200, {"data": newer, "more": True})

    def do_newer_event(self, attempt: int, path: str) -> None:
        self.stream('event: text\ndata: {"text":"Within ","more":1}\n\n', "event: thinking\ndata: [1,2\n\n", ":\n\n", f"event: done\ndata: {json.dumps(DONE)}\n\n", "event: text\ndata: no JSON\n\n")

    # Recordings.

    def do_recorded(self, attempt: int, path: str) -> None:
        wave = self.path.split("/")[1].replace("recorded", "wave")
        self.answer(200, {"data": {**CALL, "recordingUrl": self.server.url(wave) + "/v1/recordings/rec_1?signature=s"}})

    def do_wave(self, attempt: int, path: str) -> None:
        self.answer(200, b"RIFF" + b"\0" * 100_000, {"content-type": "audio/wav"})

    # Failures that pass.

    def do_broken_once(self, attempt: int, path: str) -> None:
        self.cut() if attempt == 1 else self.good(path)

    def do_broken(self, attempt: int, path: str) -> None:
        self.cut()

    def do_half_once(self, attempt: int, path: str) -> None:
        """The first answer ends in the middle of its body."""
        if attempt > 1:
            return self.good(path)
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "4000")
        self.end_headers()
        self.wfile.write(b'{"data": {"id": ')
        self.wfile.flush()
        self.close_connection = True

    def do_limited_once(self, attempt: int, path: str) -> None:
        self.answer(429, {"error": "slowly", "code": "rate_limited"}, {"retry-after": "0"}) if attempt == 1 else self.good(path)

    def do_limited_long(self, attempt: int, path: str) -> None:
        self.answer(429, {"error": "slowly", "code": "rate_limited"}, {"retry-after": "3600"})

    def do_unavailable_twice(self, attempt: int, path: str) -> None:
        self.answer(503, {"error": "in a moment", "code": "unavailable"}) if attempt <= 2 else self.good(path)

    def do_unavailable(self, attempt: int, path: str) -> None:
        self.answer(503, {"error": "never", "code": "unavailable"})

    def do_in_progress_once(self, attempt: int, path: str) -> None:
        self.answer(409, {"error": "it runs", "code": "idempotency_in_progress"}) if attempt == 1 else self.good(path)

    def do_possibly_placed(self, attempt: int, path: str) -> None:
        self.answer(502, {"error": "the phone may have rung", "code": "possibly_placed", "meta": {"callId": "call_1"}})

    # Failures that stay.

    def do_status(self, attempt: int, path: str) -> None:
        """The status is the last segment of the path."""
        self.answer(int(path.rsplit("/", 1)[1]), {"error": "refused", "code": "some_code", "meta": {"field": "toNumber"}})

    def do_html(self, attempt: int, path: str) -> None:
        self.answer(200, b"<html>Welcome to the hotel's network</html>", {"content-type": "text/html"})

    def do_html_error(self, attempt: int, path: str) -> None:
        self.answer(403, b"<html>No.</html>", {"content-type": "text/html"})

    def do_odd_error(self, attempt: int, path: str) -> None:
        self.answer(400, {"error": {"not": "a text"}, "code": 7, "meta": [1], "docUrl": False})

    def do_deep(self, attempt: int, path: str) -> None:
        self.answer(200, b"[" * 200_000)

    def do_shape(self, attempt: int, path: str) -> None:
        self.answer(200, {"data": "a text"} if "cursor" not in path else {})

    def do_empty(self, attempt: int, path: str) -> None:
        self.answer(200, {})

    def do_redirect(self, attempt: int, path: str) -> None:
        self.answer(302, {}, {"location": self.server.url("thief~" + self.path.split("/")[1])})

    def do_thief(self, attempt: int, path: str) -> None:
        self.good(path)

    def do_silent(self, attempt: int, path: str) -> None:
        """No answer, until the client goes away."""
        self.connection.recv(1)
        self.close_connection = True

    def do_trickle(self, attempt: int, path: str) -> None:
        """A body that comes byte by byte, each in time; the whole never does."""
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(OSError):
            while not self.server.stopped.wait(0.02):
                self.wfile.write(b" ")

    def do_endless(self, attempt: int, path: str) -> None:
        """A body that never ends; a client stops it by its size."""
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(OSError):
            for _ in range(200):
                self.wfile.write(b" " * 1024 * 1024)

    # Pages.

    def do_pages(self, attempt: int, path: str) -> None:
        page = int(path.partition("cursor=c")[2].partition("&")[0] or 0)
        self.answer(200, {"data": [{**CALL, "id": f"call_{2 * page + one}"} for one in range(2)], "nextCursor": f"c{page + 1}" if page < 2 else None})

    def do_offsets(self, attempt: int, path: str) -> None:
        offset = int(path.partition("offset=")[2].partition("&")[0] or 0)
        rows = [{"phone": f"+9198123456{offset + one:02}", "reason": "asked", "source": "api", "createdAt": "2026-01-01T00:00:00.000Z", "addedAt": "2026-01-01T00:00:00.000Z"} for one in range(2) if offset + one < 5]
        self.answer(200, {"data": rows, "total": 5})

    def do_same_cursor(self, attempt: int, path: str) -> None:
        self.answer(200, {"data": [CALL], "nextCursor": "again"})

    def do_cursor_circle(self, attempt: int, path: str) -> None:
        self.answer(200, {"data": [CALL], "nextCursor": f"c{attempt % 3}"})

    def do_same_offset(self, attempt: int, path: str) -> None:
        self.answer(200, {"data": [], "nextOffset": 50})

    # Streams.

    def do_stream(self, attempt: int, path: str) -> None:
        self.stream('event: text\ndata: {"text":"Within "}\n\n', 'event: text\ndata: {"text":"30 days."}\n\n', f"event: done\ndata: {json.dumps(DONE)}\n\n")

    def do_stream_cut(self, attempt: int, path: str) -> None:
        self.stream('event: text\ndata: {"text":"Within "}\n\n', 'event: text\ndata: {"te')

    def do_stream_silent(self, attempt: int, path: str) -> None:
        self.stream('event: text\ndata: {"text":"Within "}\n\n')
        self.connection.recv(1)

    def do_stream_error(self, attempt: int, path: str) -> None:
        self.stream('event: text\ndata: {"text":"Within "}\n\n', 'event: error\ndata: {"error":"the agent could not reply","code":"reply_failed"}\n\n')

    def do_stream_nonsense(self, attempt: int, path: str) -> None:
        self.stream("event: text\ndata: no JSON\n\n")

    def do_stream_endless(self, attempt: int, path: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.wfile.write(b"data: ")
            for _ in range(64):
                self.wfile.write(b"x" * 1024 * 1024)

    def do_stream_replayed(self, attempt: int, path: str) -> None:
        self.answer(200, DONE, {"idempotent-replayed": "true"})
