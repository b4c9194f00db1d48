"""Workers on the fakes: processes that can die at any call, and queues that end a run once they are empty."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from claim_check.delivery import Delivery
from claim_check.processor import Handler
from claim_check.worker import Worker
from tests.fakes.faults import Crash, When
from tests.harness import World, documents

PATIENCE_SECONDS = 10.0
VISIBILITY_SECONDS = 60


def wait_for(condition: Callable[[], object], what: str, *, seconds: float = PATIENCE_SECONDS) -> None:
    """Poll a condition, with a deadline."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"waited in vain: {what}"
        time.sleep(0.001)


@dataclass
class Process:
    """A process and its calls of the services: once it has died, none gets through.

    Attributes:
        calls: Names of the calls so far.
        dies_at: The call at which it dies: name, number of that name from 0, and when.
        died: Whether it did.
    """

    calls: list[str] = field(default_factory=list)
    dies_at: tuple[str, int, When] | None = None
    died: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def sees(self, service: Any) -> Any:  # noqa: ANN401 - any of the fakes
        """A service as this process sees it."""
        return _Seen(service, self)

    @contextmanager
    def calling(self, name: str) -> Iterator[None]:
        """What every call runs in."""
        with self._lock:
            if self.died:
                raise Crash("it is dead")
            place = (name, self.calls.count(name))
            self.calls.append(name)
        self._die_if(place, "before")
        yield
        self._die_if(place, "after")
        if self.died:
            raise Crash("it died meanwhile")

    def _die_if(self, place: tuple[str, int], when: When) -> None:
        if self.dies_at == (*place, when):
            self.died = True
            raise Crash(f"{when} call {place[1]} of {place[0]}")


class _Seen:
    def __init__(self, service: Any, process: Process) -> None:  # noqa: ANN401 - any of the fakes
        self._service = service
        self._process = process

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any member
        member = getattr(self._service, name)
        if not callable(member):
            return member

        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - any method
            with self._process.calling(name):
                return member(*args, **kwargs)

        return call


@dataclass
class Polled:
    """A receiving queue that lets time pass when nothing is visible, and ends the worker when nothing is left.

    Attributes:
        world: Whose queue it is.
        process: The process.
        queue: The queue as the process sees it.
        worker: Who polls.
        rounds: How often time may pass.
        ends: Whether an empty queue ends the worker.
    """

    world: World
    process: Process
    queue: Any
    worker: Worker | None = None
    rounds: int = 60
    ends: bool = True

    def receive_batch(self, queue_url: str, **how: Any) -> list[Delivery]:  # noqa: ANN401 - the port's arguments
        """Receive; when there is nothing, let what is under way end first."""
        found: list[Delivery] = self.queue.receive_batch(queue_url, **how)
        if not found and self.worker is not None:
            self._nothing(self.worker)
        return found

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any method
        """The other methods of the port."""
        return getattr(self.queue, name)

    def _nothing(self, worker: Worker) -> None:
        if not self.ends:
            time.sleep(0.001)
            return
        wait_for(
            lambda: (
                self.process.died or worker._stopping.is_set() or (worker._settler.idle and not worker._lanes._lanes)
            ),
            "the worker is idle",
        )
        self.rounds -= 1
        if not self.world.queued() or self.rounds < 0:
            worker.stop()
            worker._stopping.wait(PATIENCE_SECONDS)
        else:
            now = self.world.clock.now()
            hidden = [one.visible_at for one in self.world.queued() if one.visible_at > now]
            self.world.clock.advance(min(hidden, default=now) - now)


@dataclass
class Pauses:
    """Stands in for waiting: time passes at once.

    Attributes:
        seconds: What was waited for, in order.
    """

    world: World
    seconds: list[float] = field(default_factory=list)

    def __call__(self, event: threading.Event, seconds: float) -> bool:
        """Wait."""
        if not event.is_set():
            self.seconds.append(seconds)
            self.world.clock.advance(seconds)
        return event.is_set()


@dataclass
class Started:
    """A worker, what it is made of, and the thread it runs in.

    Attributes:
        worker: The worker.
        process: Its process.
        pauses: What it waited for.
        alive: One entry per sign of life.
    """

    worker: Worker
    process: Process
    pauses: Pauses
    polled: Polled
    alive: list[float]
    error: BaseException | None = None
    thread: threading.Thread | None = None

    def start(self) -> Started:
        """Run it in a thread."""
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        return self

    def _run(self) -> None:
        try:
            self.worker.run()
        except BaseException as error:  # noqa: BLE001 - raised by `join`
            self.error = error

    def stop(self) -> None:
        """Ask it to stop, and wait until it starts nothing any more: what is asked is noticed by another thread."""
        self.worker.stop()
        wait_for(lambda: self.worker._lanes._closed, "the stop")

    def join(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait for its end, and raise what it raised."""
        assert self.thread is not None
        self.thread.join(seconds)
        assert not self.thread.is_alive(), "the worker does not end"
        if self.error is not None:
            raise self.error

    def run(self) -> Started:
        """Run it until the queue is empty."""
        self.start().join()
        return self


def make_worker(
    world: World,
    handler: Handler = documents,
    *,
    process: Process | None = None,
    ends: bool = True,
    consumer: dict[str, Any] | None = None,
    **options: Any,  # noqa: ANN401 - options of Worker
) -> Started:
    """A worker in a process of its own."""
    process = process or Process()
    queue = process.sees(world.queue)
    made = world.consumer(
        handler,
        **{
            "table": process.sees(world.table),
            "objects": process.sees(world.objects),
            "queue": queue,
            **(consumer or {}),
        },
    )
    polled, pauses, alive = Polled(world, process, queue, ends=ends), Pauses(world), list[float]()
    ids = iter(range(1_000_000))
    settings: dict[str, Any] = {
        "clock": world.clock,
        "telemetry": world.telemetry,
        "random": lambda: 0.5,
        "new_id": lambda: f"attempt-{next(ids)}",
        "concurrency": 1,
        "visibility_seconds": VISIBILITY_SECONDS,
        "alive": lambda: alive.append(time.monotonic()),
        "pause": pauses,
        "linger_seconds": 0,
        **options,
    }
    polled.worker = Worker(made, cast(Any, polled), **settings)
    return Started(polled.worker, process, pauses, polled, alive)


class Gate:
    """A handler's waiting: it tells that it has come, and goes on when it may."""

    def __init__(self) -> None:
        """Begin closed."""
        self._reached = threading.Semaphore(0)
        self._open = threading.Event()

    def wait(self) -> bool:
        """In the handler: tell, and wait."""
        self.tell()
        assert self._open.wait(PATIENCE_SECONDS), "nobody opened the gate"
        return True

    def tell(self) -> None:
        """In the handler: tell, and go on."""
        self._reached.release()

    def reached(self, times: int = 1) -> None:
        """In the test: wait until handlers have come."""
        for _ in range(times):
            assert self._reached.acquire(timeout=PATIENCE_SECONDS), "no handler came"

    def open(self) -> None:
        """In the test: let them go on."""
        self._open.set()
