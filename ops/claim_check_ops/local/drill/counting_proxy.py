"""A door in front of S3 that counts who reads what, and when: the one honest measure of a redrive's reads."""

from __future__ import annotations

import http.client
import threading
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

from claim_check.contract import PAYLOAD_PREFIX

_HOST: Final = "127.0.0.1"
_CHUNK_BYTES: Final = 256 * 1024
_HOP_BY_HOP: Final = frozenset({"connection", "keep-alive", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Read:
    """One GET of a payload.

    Attributes:
        at: When it was asked for, seconds of a clock that never goes back.
        size: Bytes that went through.
    """

    at: float
    size: int


@dataclass(slots=True)
class Reads:
    """All GETs so far."""

    made: list[Read] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, read: Read) -> None:
        """Note one."""
        with self._lock:
            self.made.append(read)

    def since(self, moment: float) -> list[Read]:
        """Those made from a moment on, in order."""
        with self._lock:
            return sorted((read for read in self.made if read.at >= moment), key=lambda read: read.at)


def peak(reads: list[Read], seconds: float) -> tuple[int, int]:
    """The most GETs, and the most bytes, that began within so many seconds."""
    most_reads = most_bytes = first = total = 0
    for place, read in enumerate(reads):
        total += read.size
        while reads[first].at <= read.at - seconds:
            total -= reads[first].size
            first += 1
        most_reads, most_bytes = max(most_reads, place - first + 1), max(most_bytes, total)
    return most_reads, most_bytes


class CountingProxy:
    """Passes requests on to an endpoint over HTTP. A context manager: it listens on loopback while it is open.

    Attributes:
        reads: GETs of payloads.
    """

    def __init__(self, endpoint_url: str) -> None:
        """Listen on a free port, but answer nobody yet.

        Args:
            endpoint_url: Where requests go.
        """
        target = urlsplit(endpoint_url)
        self.reads = Reads()

        class Handler(_Handler):
            host, port, reads = target.hostname or "", target.port or 80, self.reads

        self._server = ThreadingHTTPServer((_HOST, 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="counting-proxy", daemon=True)

    @property
    def url(self) -> str:
        """Its own endpoint."""
        return f"http://{_HOST}:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        """Answer."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    host: str
    port: int
    reads: Reads
    protocol_version = "HTTP/1.1"

    def _pass_on(self) -> None:
        at = time.monotonic()
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        connection = http.client.HTTPConnection(self.host, self.port, timeout=120)
        try:
            connection.request(self.command, self.path, body=body or None, headers=dict(self.headers.items()))
            size = self._answer(connection.getresponse())
        except OSError:
            self.close_connection = True
            return
        finally:
            connection.close()
        if self.command == "GET" and f"/{PAYLOAD_PREFIX}" in self.path:
            self.reads.add(Read(at, size))

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _pass_on  # noqa: N815 - the names that the server looks for

    def _answer(self, answer: http.client.HTTPResponse) -> int:
        """Send the answer back, piece by piece; returns the bytes of its body."""
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _HOP_BY_HOP:
                self.send_header(name, value)
        known = answer.getheader("Content-Length") is not None or answer.status == HTTPStatus.NO_CONTENT
        if not known:
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        size = 0
        while self.command != "HEAD" and (piece := answer.read(_CHUNK_BYTES)):
            self.wfile.write(piece)
            size += len(piece)
        return size

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name that the server uses
        """Say nothing: paths hold keys."""
