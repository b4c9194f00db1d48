"""How ``claim-check --local`` finds the embedded AWS that ``claim-check local up`` left running: by a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

FILE: Final = Path(".local") / "aws.json"
"""In the folder where both commands are run; version control ignores it."""


class NotRunning(Exception):
    """There is no embedded AWS that was left running from this folder."""


@contextmanager
def told(environment: Mapping[str, str], file: Path = FILE) -> Iterator[None]:
    """Keep the file as long as the block runs.

    Args:
        environment: Variables by which clients find it.
        file: Where to.
    """
    file.parent.mkdir(exist_ok=True)
    mine = json.dumps({"pid": os.getpid(), "environment": dict(environment)})
    file.write_text(mine, encoding="utf-8")
    try:
        yield
    finally:
        if file.exists() and file.read_text(encoding="utf-8") == mine:  # another one may have taken its place
            file.unlink()


def adopt(variables: MutableMapping[str, str], file: Path = FILE) -> None:
    """Make it the AWS of this process: its variables take the place of any other AWS's.

    Args:
        variables: ``os.environ``.
        file: Where it was told.

    Raises:
        NotRunning: There is none.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        os.kill(found["pid"], 0)
    except (OSError, ValueError, KeyError) as error:
        raise NotRunning(
            "No embedded AWS was left running from this folder. Run `make local` in another shell, or export the "
            "variables that it prints."
        ) from error
    for name in [name for name in variables if name.startswith("AWS_")]:
        del variables[name]
    variables.update(found["environment"])
