"""R2.8: whoever grants, uploads or confirms dies between any two calls to the outside, before or after a call's effect.

The boundaries are recorded from a passing run. After each death the tag's rule may strike, since nobody says when the
client comes back; then all of it is repeated. At every moment, whatever message can be seen has its payload, for as
long as the retention plan promises; in the end the event is published.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import get_args

import pytest

from claim_check import contract
from claim_check.envelope import Claim, decode
from claim_check.errors import Unavailable
from claim_check.ports import UploadStore
from tests.fakes.faults import Crash, When
from tests.harness import BUCKET
from tests.upload_world import CONTENT, UploadWorld, declaration

EVER = 1_000_000
DAY = 86_400


def whole(setup: UploadWorld) -> None:
    """What a client does, each step in a process of its own."""
    grant = setup.uploads().grant(declaration())
    assert setup.store.upload(grant.put, CONTENT) in {200, 412}
    setup.uploads().confirm(declaration())


def confirmed_before(setup: UploadWorld) -> None:
    """An earlier attempt got through, but its answer was lost."""
    setup.uploaded(declaration())
    setup.uploads().confirm(declaration())
    setup.world.faults.calls.clear()


def uploaded_before(setup: UploadWorld) -> None:
    """An earlier attempt had uploaded it."""
    setup.uploaded(declaration())
    setup.world.faults.calls.clear()


def scanned_before(setup: UploadWorld) -> None:
    """The same, and a scanner has put a tag of its own on it."""
    uploaded_before(setup)
    (tags,) = setup.store.tag_sets.values()
    tags["scanned"] = "yes"


def too_old(setup: UploadWorld) -> None:
    """An earlier attempt had uploaded it, a week ago."""
    setup.uploaded(declaration())
    setup.world.clock.advance(contract.UNCONFIRMED_SECONDS)
    setup.world.faults.calls.clear()


def fresh(_: UploadWorld) -> None:
    """Nothing happened before."""


PATHS: dict[str, Callable[[UploadWorld], None]] = {
    path.__name__: path for path in (fresh, uploaded_before, scanned_before, confirmed_before, too_old)
}


def boundaries(path: str) -> tuple[str, ...]:
    """The calls of a run in which nothing happens."""
    setup = UploadWorld()
    PATHS[path](setup)
    whole(setup)
    return tuple(setup.world.faults.calls)


def pointers_resolve(setup: UploadWorld) -> None:
    """Whatever message can be seen, its payload is there, and no rule but the plan's will delete it."""
    setup.store.expire_unconfirmed()
    for one in setup.world.queued():
        claim = decode(one.message.body).payload
        assert isinstance(claim, Claim)
        assert setup.world.objects.content(BUCKET, claim.key) == CONTENT
        assert setup.store.tag_sets[BUCKET, claim.key].get(contract.TAG_STATE) is None


def run(path: str, index: int, when: When, *, error: BaseException, dies: bool, away: int) -> None:
    """Break one call; come back after so many seconds; repeat everything."""
    setup = UploadWorld()
    PATHS[path](setup)
    setup.world.faults.fail(None, error, when=when, skip=index)
    if dies:  # from there on nothing of the process has an effect
        setup.world.faults.fail(None, error, when="before", skip=index + 1, times=EVER)
    with suppress(Crash, Unavailable):
        whole(setup)
    setup.world.faults.clear()
    pointers_resolve(setup)
    setup.world.clock.advance(away)
    pointers_resolve(setup)
    whole(setup)
    pointers_resolve(setup)
    setup.world.clock.advance(2 * contract.UNCONFIRMED_SECONDS)
    pointers_resolve(setup)
    assert setup.world.queued(), "published in the end"


AWAY = [1, contract.UPLOAD_CONFIRM_SECONDS - 1, contract.UPLOAD_CONFIRM_SECONDS + 1, contract.UNCONFIRMED_SECONDS + DAY]


@pytest.mark.parametrize("away", AWAY)
@pytest.mark.parametrize("when", get_args(When))
@pytest.mark.parametrize("path", PATHS)
def test_a_death_at_any_boundary_of(path: str, when: When, away: int) -> None:
    for index, _ in enumerate(boundaries(path)):
        run(path, index, when, error=Crash(), dies=True, away=away)


@pytest.mark.parametrize("when", get_args(When))
@pytest.mark.parametrize("path", PATHS)
def test_no_answer_at_any_boundary_of(path: str, when: When) -> None:
    """The process lives on, and does not know whether the call took effect."""
    for index, _ in enumerate(boundaries(path)):
        run(path, index, when, error=Unavailable("no answer"), dies=False, away=1)


def test_every_call_to_the_outside_is_a_boundary() -> None:
    calls = {name for name in vars(UploadStore) if not name.startswith("_")}
    assert {name for path in PATHS for name in boundaries(path)} == calls | {"send_batch"}


def test_the_order_of_a_confirm() -> None:
    """Verify, release, publish: the pointer comes last."""
    assert boundaries("uploaded_before")[-4:] == ("head", "tags", "replace_tags", "send_batch")
