"""A stand-in for S3, SQS and DynamoDB that are far away: answers come late, and any number of them side by side.

Servers on this machine share its processors with what is measured, and the embedded AWS takes one request at a time;
AWS does neither. This one process answers every GET with the same object, every message sent with its acceptance, and
every other request with an empty answer, after the time that a network takes, and costs next to nothing itself. It ends
with the process that started it.
"""

from __future__ import annotations

import json
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.figure import BenchmarkError

S3_SECONDS: Final = 0.050
DYNAMODB_SECONDS: Final = 0.005

_HOST: Final = "127.0.0.1"
_ROOT: Final = Path(__file__).resolve().parents[1]
_STOP_SECONDS: Final = 5.0


class _Answers(socketserver.StreamRequestHandler):
    """Answers the requests of one connection."""

    content = b""
    s3_seconds = S3_SECONDS
    other_seconds = DYNAMODB_SECONDS
    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Until the client hangs up."""
        while request := self.rfile.readline().split():
            headers = dict(self._headers())
            if headers.get("expect") == "100-continue":
                self.request.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = self.rfile.read(int(headers.get("content-length", "0")))
            if request[0] == b"GET":
                self._answer(self.s3_seconds, "binary/octet-stream", self.content)
            elif request[0] == b"PUT":
                self._answer(self.s3_seconds, "application/xml", b"")
            else:
                answer = _accepted(headers.get("x-amz-target", ""), body)
                self._answer(self.other_seconds, "application/x-amz-json-1.0", answer)

    def _headers(self) -> Iterator[tuple[str, str]]:
        while line := self.rfile.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            yield name.lower(), value.strip()

    def _answer(self, seconds: float, content_type: str, body: bytes) -> None:
        time.sleep(seconds)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
        self.request.sendall(head.encode() + body if len(body) < len(head) else head.encode())
        if len(body) >= len(head):
            self.request.sendall(body)


def _accepted(target: str, body: bytes) -> bytes:
    """What SQS says to messages that it takes."""
    if target == "AmazonSQS.SendMessage":
        return b'{"MessageId":"0","MD5OfMessageBody":"0"}'
    if target == "AmazonSQS.SendMessageBatch":
        entries = [
            {"Id": entry["Id"], "MessageId": "0", "MD5OfMessageBody": "0"} for entry in json.loads(body)["Entries"]
        ]
        return json.dumps({"Successful": entries}).encode()
    return b"{}"


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64


@contextmanager
def far_services(
    content_length: int = 0, *, s3_seconds: float = S3_SECONDS, other_seconds: float = DYNAMODB_SECONDS
) -> Iterator[str]:
    """Run it in a process of its own; yields its endpoint.

    Args:
        content_length: Bytes of the object, all of them zero.
        s3_seconds: How long S3 takes to answer.
        other_seconds: How long the other services take.

    Raises:
        BenchmarkError: It did not start.
    """
    process = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "benchmarks.far_services", str(content_length), str(s3_seconds), str(other_seconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=_ROOT,
        start_new_session=True,
    )
    with process:
        try:
            port = process.stdout.readline().decode().strip() if process.stdout else ""
            if not port:
                raise BenchmarkError("The stand-in for far services did not start; see above.")
            yield f"http://{_HOST}:{port}"
        finally:
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def serve(content_length: int, s3_seconds: float, other_seconds: float) -> None:
    """Answer until standard input closes; the first line printed is the port."""
    _Answers.content, _Answers.s3_seconds, _Answers.other_seconds = bytes(content_length), s3_seconds, other_seconds
    with _Server((_HOST, 0), _Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_address[1], flush=True)
        sys.stdin.buffer.read()
        server.shutdown()


if __name__ == "__main__":
    serve(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]))
