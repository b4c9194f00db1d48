"""A stand-in for SQS and DynamoDB that are far away: answers come late, and any number of them side by side.

Like `benchmarks.far_services`, with a queue: what is sent is received once. The table takes everything: each message
is new, as it is in a backlog. It ends with the process that started it.
"""

from __future__ import annotations

import itertools
import json
import socketserver
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.far_services import DYNAMODB_SECONDS
from benchmarks.figure import BenchmarkError

SQS_SECONDS: Final = 0.010

_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n"
_HOST: Final = "127.0.0.1"
_ROOT: Final = Path(__file__).resolve().parents[1]
_STOP_SECONDS: Final = 5.0
_NUMBERS: Final = itertools.count()
_BACKLOG: Final[deque[dict[str, Any]]] = deque()


class _Answers(socketserver.StreamRequestHandler):
    """Answers the requests of one connection."""

    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Until the client hangs up."""
        while self.rfile.readline().split():
            headers = dict(self._headers())
            request = self.rfile.read(int(headers.get("content-length", "0")))
            service, _, action = headers.get("x-amz-target", "").partition(".")
            queue = service == "AmazonSQS"
            answer = json.dumps(_answer(action, json.loads(request)) if queue else {}).encode()
            time.sleep(SQS_SECONDS if queue else DYNAMODB_SECONDS)
            self.request.sendall(_HEAD % len(answer) + answer)

    def _headers(self) -> Iterator[tuple[str, str]]:
        while line := self.rfile.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            yield name.lower(), value.strip()


def _answer(action: str, request: dict[str, Any]) -> dict[str, Any]:
    """What the queue answers."""
    if action == "SendMessageBatch":
        return {"Successful": [_take_in(entry) for entry in request["Entries"]], "Failed": []}
    if action == "ReceiveMessage":
        found: list[dict[str, Any]] = []
        while _BACKLOG and len(found) < request["MaxNumberOfMessages"]:
            found.append(_BACKLOG.popleft())
        return {"Messages": found}
    return {"Successful": [{"Id": entry["Id"]} for entry in request.get("Entries", [])], "Failed": []}


def _take_in(entry: dict[str, Any]) -> dict[str, Any]:
    name = f"{next(_NUMBERS)}"
    system = {"SentTimestamp": str(int(time.time() * 1000)), "ApproximateReceiveCount": "1"}
    attributes = entry.get("MessageAttributes", {})
    message = {"MessageId": name, "ReceiptHandle": name, "Body": entry["MessageBody"]}
    _BACKLOG.append(message | {"Attributes": system, "MessageAttributes": attributes})
    return {"Id": entry["Id"], "MessageId": name, "MD5OfMessageBody": ""}


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64


@contextmanager
def far_queue() -> Iterator[str]:
    """Run it in a process of its own; yields its endpoint.

    Raises:
        BenchmarkError: It did not start.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.far_queue"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=_ROOT,
        start_new_session=True,
    )
    with process:
        try:
            port = process.stdout.readline().decode().strip() if process.stdout else ""
            if not port:
                raise BenchmarkError("The stand-in for a far queue did not start; see above.")
            yield f"http://{_HOST}:{port}"
        finally:
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def serve() -> None:
    """Answer until standard input closes; the first line printed is the port."""
    with _Server((_HOST, 0), _Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_address[1], flush=True)
        sys.stdin.buffer.read()
        server.shutdown()


if __name__ == "__main__":
    serve()
