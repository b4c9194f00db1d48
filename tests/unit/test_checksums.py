"""The checksums of S3, against their published check values and against each other."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_check import checksums
from claim_check.checksums import ALGORITHMS, Algorithm, running

CHECK_VALUES: dict[Algorithm, str] = {  # of "123456789", as the catalogue of CRC algorithms has them
    "CRC32": "cbf43926",
    "CRC32C": "e3069283",
    "CRC64NVME": "ae8b14860a799888",
    "SHA1": "f7c3bc1d808e04732adf679965ccc34ca7ae3441",
    "SHA256": "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225",
}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_published_check_value(algorithm: Algorithm) -> None:
    for cut in range(10):
        value = running(algorithm)
        value.update(b"123456789"[:cut])
        value.update(b"123456789"[cut:])
        assert value.digest().hex() == CHECK_VALUES[algorithm]


@given(st.binary(max_size=3000), st.integers(0, 3000), st.integers(1, 3))
def test_folding_changes_nothing(content: bytes, cut: int, times: int) -> None:
    """The folded blocks give what byte after byte gives: here that of the C library, for the one CRC it has."""
    content *= times
    ours = checksums._ReflectedCrc(0xEDB88320, 32)
    ours.update(content[:cut])
    ours.update(content[cut:])
    assert ours.digest() == zlib.crc32(content).to_bytes(4, "big")


@pytest.mark.parametrize("polynomial, width", [(checksums._CRC32C, 32), (checksums._CRC64NVME, 64)])
@pytest.mark.parametrize("length", [0, 1, 511, 512, 513, 4096, 100_003])
def test_large_blocks_byte_after_byte(polynomial: int, width: int, length: int) -> None:
    content = bytes(index * 31 % 251 for index in range(length))
    folded, plain = (checksums._ReflectedCrc(polynomial, width) for _ in range(2))
    folded.update(content)
    plain._step(content)
    assert folded.digest() == plain.digest()
