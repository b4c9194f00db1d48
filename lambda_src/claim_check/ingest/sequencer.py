"""The order of the events of one key (R10.1). Sequencers of different keys do not compare.

A sequencer is hexadecimal, and begins with a time of fixed width. Mostly both have one length and compare as text.
For unequal lengths AWS's user guide pads the shorter on the right, older texts on the left. So the ledger never lets
such a comparison decide alone: it asks the bucket.
"""

from __future__ import annotations

from claim_check.contract import SequencerPad


def newer(a: str, b: str, pad: SequencerPad = "right") -> bool:
    """Whether sequencer ``a`` is later than ``b``.

    Args:
        a: Hexadecimal.
        b: Hexadecimal, of the same key.
        pad: On which side the shorter is filled with zeros.
    """
    return _padded(a, b, pad) > _padded(b, a, pad)


def order(a: str | None, b: str | None) -> int | None:
    """1 if ``a`` is later than ``b``, 0 if they are one event, -1 if it is earlier; None if that is not certain."""
    if a is None or b is None or len(a) != len(b):
        return None
    a, b = a.upper(), b.upper()
    return (a > b) - (a < b)


def latest(a: str | None, b: str | None, pad: SequencerPad) -> str | None:
    """The later of two sequencers, either of which may be missing."""
    if a is None or b is None:
        return b if a is None else a
    return a if newer(a, b, pad) else b


def _padded(text: str, other: str, pad: SequencerPad) -> str:
    width = len(other)
    return (text.ljust(width, "0") if pad == "right" else text.rjust(width, "0")).upper()
