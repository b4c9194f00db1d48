"""The handler, and the process around it."""

import os
import signal

from claim_check import Message, Transaction
from claim_check.aws import worker
from claim_check.settings import ConsumerSettings


def handle(message: Message, tx: Transaction) -> None:  # noqa: ARG001 - this one only looks
    """Count the bytes of a payload."""
    size, stream = 0, message.open()
    while chunk := stream.read(64 * 1024):
        size += len(chunk)
    print(f"{message.message_id}: {size} bytes", flush=True)


def main() -> None:
    """Work until somebody asks to stop."""
    scans = worker(ConsumerSettings.from_environment(os.environ), handler=handle)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: scans.stop())
    scans.run()


if __name__ == "__main__":
    main()
