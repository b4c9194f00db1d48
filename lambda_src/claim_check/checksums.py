"""The checksums that S3 keeps of whole objects, computed while bytes stream by.

SHA-256, SHA-1 and CRC-32 come with Python. CRC-32C and CRC-64/NVME, which S3 computes itself for objects that came
without a checksum, do not: here they take 10 to 15 ms for a mebibyte.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, Protocol, TypeAlias

Algorithm: TypeAlias = Literal["SHA256", "CRC64NVME", "CRC32C", "CRC32", "SHA1"]


@dataclass(frozen=True, slots=True)
class Checksum:
    """A store's own checksum of a whole object; never one of parts (``hash-of-hashes-N``).

    Attributes:
        algorithm: As S3 names it.
        value: The checksum.
    """

    algorithm: Algorithm
    value: bytes


class Running(Protocol):
    """A checksum that grows with each piece."""

    def update(self, piece: bytes, /) -> object:
        """Take in the next bytes."""

    def digest(self) -> bytes:
        """The checksum of everything so far, most significant byte first."""


def running(algorithm: Algorithm) -> Running:
    """Begin a checksum of nothing yet."""
    return _MAKERS[algorithm]()


class _Crc32:
    def __init__(self) -> None:
        self._value = 0

    def update(self, piece: bytes, /) -> None:
        self._value = zlib.crc32(piece, self._value)

    def digest(self) -> bytes:
        return self._value.to_bytes(4, "big")


class _ReflectedCrc:
    """A reflected CRC.

    With words as wide as the CRC, each step is ``state = advance(state ^ word)``, and `advance` is linear over bits. So
    the first half of n words can be folded into the second: ``word[i + n/2] ^= advance^(n/2)(word[i])`` leaves the
    state as it would be. `_Fold` does that to all words at once, by `bytes.translate` and long integers.
    """

    def __init__(self, polynomial: int, width: int) -> None:
        self._size = width // 8
        self._mask = (1 << width) - 1
        self._polynomial = polynomial
        self._single = _single(polynomial)
        self._value = self._mask

    def update(self, piece: bytes, /) -> None:
        rest = memoryview(piece)
        while (words := len(rest) // self._size) >= _FOLDED_WORDS:
            length = (1 << (words.bit_length() - 1)) * self._size
            first = (self._value ^ int.from_bytes(rest[: self._size], "little")).to_bytes(self._size, "little")
            self._value = 0
            self._step(self._folded(first + bytes(rest[self._size : length])))
            rest = rest[length:]
        self._step(rest)

    def digest(self) -> bytes:
        return (self._value ^ self._mask).to_bytes(self._size, "big")

    def _step(self, piece: bytes | memoryview) -> None:
        value, single = self._value, self._single
        for byte in piece:
            value = single[(value ^ byte) & 0xFF] ^ (value >> 8)
        self._value = value

    def _folded(self, block: bytes) -> bytes:
        """A power of two of words, folded to a few."""
        planes = [block[place :: self._size] for place in range(self._size)]
        while (half := len(planes[0]) // 2) >= _FOLDED_WORDS // 2:
            planes = _fold(self._polynomial, self._size, half).halve(planes)
        return bytes(byte for word in zip(*planes, strict=True) for byte in word)


class _Fold:
    """``advance`` so many times: which byte it makes of each byte of a word, by place in and place out."""

    def __init__(self, size: int, columns: Sequence[int]) -> None:
        self._tables: list[list[bytes]] = []
        for place in range(size):
            images = [0]
            for bit in columns[8 * place : 8 * place + 8]:
                images += [image ^ bit for image in images]
            self._tables.append([bytes(image >> 8 * out & 0xFF for image in images) for out in range(size)])

    def halve(self, planes: Sequence[bytes]) -> list[bytes]:
        """Fold the first half of the words into the second; ``planes[n]`` holds byte n of every word."""
        half = len(planes[0]) // 2
        firsts = [plane[:half] for plane in planes]
        found = []
        for out, plane in enumerate(planes):
            total = int.from_bytes(plane[half:], "little")
            for first, tables in zip(firsts, self._tables, strict=True):
                total ^= int.from_bytes(first.translate(tables[out]), "little")
            found.append(total.to_bytes(half, "little"))
        return found


_FOLDED_WORDS: Final = 64
"""Blocks of fewer words are not worth folding."""


@cache
def _single(polynomial: int) -> Sequence[int]:
    """What each byte does to a CRC of this reflected polynomial."""
    found = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (polynomial if value & 1 else 0)
        found.append(value)
    return found


@cache
def _columns(polynomial: int, size: int, words: int) -> Sequence[int]:
    """What ``advance``, done ``words`` times (a power of two), makes of each bit of a word."""
    if words == 1:
        found, single = [], _single(polynomial)
        for bit in range(8 * size):
            value = 1 << bit
            for _ in range(size):
                value = single[value & 0xFF] ^ (value >> 8)
            found.append(value)
        return found
    half = _columns(polynomial, size, words // 2)
    return [_image(half, column) for column in half]


def _image(columns: Sequence[int], value: int) -> int:
    """What a linear map makes of a value."""
    total = 0
    while value:
        lowest = value & -value
        total ^= columns[lowest.bit_length() - 1]
        value ^= lowest
    return total


@cache
def _fold(polynomial: int, size: int, words: int) -> _Fold:
    return _Fold(size, _columns(polynomial, size, words))


_CRC32C: Final = 0x82F63B78
_CRC64NVME: Final = 0x9A6C9329AC4BC9B5

_MAKERS: Final[dict[Algorithm, Callable[[], Running]]] = {
    "SHA256": hashlib.sha256,
    "CRC64NVME": lambda: _ReflectedCrc(_CRC64NVME, 64),
    "CRC32C": lambda: _ReflectedCrc(_CRC32C, 32),
    "CRC32": _Crc32,
    "SHA1": lambda: hashlib.sha1(usedforsecurity=False),
}

ALGORITHMS: Final = tuple(_MAKERS)
"""In the order in which they are preferred."""
