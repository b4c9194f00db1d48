"""Runs real code of several actors in every order of their calls to the outside, one call at a time.

Each actor is a thread that stops before each of its calls; a schedule says who goes on next. Schedules are enumerated
depth first, so that every interleaving is run once, and each always the same way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.fakes.faults import Faults

PATIENCE = 20.0


class Actor(threading.Thread):
    """One actor."""

    def __init__(self, action: Callable[[], None]) -> None:
        """Prepare; it waits at once for its first turn."""
        super().__init__(daemon=True)
        self._action = action
        self._turn = threading.Semaphore(0)
        self._stopped = threading.Semaphore(0)
        self.done = False
        self.error: BaseException | None = None

    def run(self) -> None:
        """Act."""
        self._turn.acquire()
        try:
            self._action()
        except BaseException as error:  # noqa: BLE001 - handed to the test
            self.error = error
        self.done = True
        self._stopped.release()

    def pause(self) -> None:
        """Stop before a call until it is this actor's turn."""
        self._stopped.release()
        assert self._turn.acquire(timeout=PATIENCE), "never its turn again"

    def go_on(self) -> None:
        """Let it run to its next call, or to its end."""
        self._turn.release()
        assert self._stopped.acquire(timeout=PATIENCE), "it neither called nor ended"


@dataclass
class SteppedFaults(Faults):
    """Faults whose calls stop the actor that makes them; the calls of other threads run through."""

    @contextmanager
    def around(self, name: str) -> Iterator[None]:
        """What every call of a fake runs in."""
        actor = threading.current_thread()
        if isinstance(actor, Actor):
            actor.pause()
        with super().around(name):
            yield


@dataclass
class Play:
    """One run under a schedule.

    Attributes:
        choices: Who went on at each step.
        open: Who else could have.
    """

    choices: list[int] = field(default_factory=list)
    open: list[list[int]] = field(default_factory=list)


def perform(actions: Sequence[Callable[[], None]], script: Sequence[int]) -> Play:
    """Run the actors: first as the script says, then each to its end in order."""
    actors = [Actor(action) for action in actions]
    for actor in actors:
        actor.start()
    play = Play()
    while waiting := [number for number, actor in enumerate(actors) if not actor.done]:
        step = len(play.choices)
        chosen = script[step] if step < len(script) else waiting[0]
        play.choices.append(chosen)
        play.open.append([number for number in waiting if number > chosen])
        actors[chosen].go_on()
    for actor in actors:
        actor.join(PATIENCE)
        if actor.error is not None:
            raise actor.error
    return play


def every_interleaving(run: Callable[[Sequence[int]], Play]) -> int:
    """Run every schedule; returns their number.

    Args:
        run: Makes a new world, performs a script in it, and checks what came of it.
    """
    script: list[int] | None = []
    number = 0
    while script is not None:
        play = run(script)
        number += 1
        script = None
        for step in reversed(range(len(play.choices))):
            if play.open[step]:
                script = [*play.choices[:step], play.open[step][0]]
                break
    return number
