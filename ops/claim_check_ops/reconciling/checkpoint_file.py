"""Keeps how far a run by hand has come: in memory, or in a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from claim_check.errors import ReadRefused
from claim_check.reconciliation.ports import Checkpoint

_PRIVATE = 0o600


class Memory:
    """`claim_check.reconciliation.ports.Checkpoints` for a run that cannot be gone on with."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._state = ""

    def take(self, name: str, *, owner: str, now: float, until: float) -> Checkpoint:  # noqa: ARG002 - the port's signature
        """Nobody else is here."""
        return Checkpoint(name=name, state=self._state)

    def save(self, checkpoint: Checkpoint, *, owner: str, until: float) -> bool:  # noqa: ARG002 - the port's signature
        """Keep it."""
        self._state = checkpoint.state
        return True


class CheckpointFile(Memory):
    """The same in a file. It holds an object key, so it is its owner's alone; two commands must not share one."""

    def __init__(self, path: Path) -> None:
        """Read the file, if there is one.

        Raises:
            ReadRefused: It cannot be read.
        """
        super().__init__()
        self._path = path
        try:
            self._state = path.read_text(encoding="utf-8") if path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise ReadRefused(f"the checkpoint {path} cannot be read: {type(error).__name__}") from error

    def save(self, checkpoint: Checkpoint, *, owner: str, until: float) -> bool:
        """Replace the file, all at once.

        Raises:
            ReadRefused: It cannot be written.
        """
        beside = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}")
        try:
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "w") as file:
                file.write(checkpoint.state)
            beside.replace(self._path)
        except OSError as error:
            raise ReadRefused(f"the checkpoint {self._path} cannot be written: {type(error).__name__}") from error
        return super().save(checkpoint, owner=owner, until=until)
