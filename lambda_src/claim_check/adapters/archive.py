"""The archive of dead letters on S3."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from claim_check.adapters.failures import code_of
from claim_check.adapters.listing import S3Listing
from claim_check.adapters.s3 import S3ObjectStore
from claim_check.archive import (
    LETTER_CONTENT_TYPE,
    ArchivedLetter,
    decode_letter,
    encode_letter,
    is_key_of,
    letter_key,
    letters_prefix,
)
from claim_check.contract import ARCHIVE_PREFIX
from claim_check.errors import AccessDenied, ArchiveRefused, MissingPayload, PublishError, ReadRefused
from claim_check.listing import pages
from claim_check.ports import ObjectExists
from claim_check.side_by_side import SideBySide

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from claim_check.delivery import Delivery

READERS: Final = 16
"""Letters that are read side by side."""

DELETE_KEYS: Final = 1000
"""Keys that one DeleteObjects takes."""

_PIECE: Final = 1 << 20
_Answer = TypeVar("_Answer")


class S3DeadLetterArchive:
    """`claim_check.archive.DeadLetterArchive` in one bucket."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        """Use a bucket.

        Args:
            client: S3 client.
            bucket: Its name.
        """
        self._client = client
        self._bucket = bucket
        self._objects = S3ObjectStore(client)
        self._listing = S3Listing(client)

    def put(self, letter: ArchivedLetter) -> bool:
        """See `DeadLetterArchive.put`: one conditional PUT whose SHA-256 S3 verifies."""
        content = encode_letter(letter)
        try:
            self._objects.put_if_absent(
                bucket=self._bucket,
                key=letter_key(letter.delivery),
                body=content,
                content_length=len(content),
                sha256=hashlib.sha256(content).hexdigest(),
                content_type=LETTER_CONTENT_TYPE,
                metadata={},
            )
        except ObjectExists:
            return False
        except PublishError as error:
            raise ArchiveRefused(
                f"the archive refuses a letter: {_code_behind(error)}; check s3:PutObject on {ARCHIVE_PREFIX}, the "
                "bucket's name and policy, and its KMS key"
            ) from error
        return True

    def letters(self, queue: str) -> Iterator[ArchivedLetter]:
        """See `DeadLetterArchive.letters`."""
        with SideBySide(READERS) as pool:
            for keys in self._pages(queue):
                for start in range(0, len(keys), READERS):
                    found = pool.start(self._read, keys[start : start + READERS])()
                    yield from (letter for letter in found if letter is not None)

    def count(self, queue: str) -> int:
        """See `DeadLetterArchive.count`."""
        return sum(map(len, self._pages(queue)))

    def get(self, queue: str, sqs_message_id: str) -> ArchivedLetter | None:
        """See `DeadLetterArchive.get`: looks for the key in the listing; an id alone tells only its end."""
        keys = (key for page in self._pages(queue) for key in page if is_key_of(key, sqs_message_id))
        key = next(keys, None)
        return None if key is None else self._read(key)

    def stored(self, delivery: Delivery) -> ArchivedLetter | None:
        """See `DeadLetterArchive.stored`: one GET."""
        return self._read(letter_key(delivery))

    def remove(self, letters: Sequence[ArchivedLetter]) -> list[ArchivedLetter]:
        """See `DeadLetterArchive.remove`."""
        refused: list[ArchivedLetter] = []
        for start in range(0, len(letters), DELETE_KEYS):
            refused += self._remove_some(letters[start : start + DELETE_KEYS])
        return refused

    def _remove_some(self, letters: Sequence[ArchivedLetter]) -> list[ArchivedLetter]:
        by_key = {letter_key(letter.delivery): letter for letter in letters}
        listed: Any = [{"Key": key} for key in by_key]
        try:
            answer = self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": listed, "Quiet": True})
        except (ClientError, BotoCoreError):
            return list(letters)
        return [by_key[error["Key"]] for error in answer.get("Errors", []) if error.get("Key") in by_key]

    def _pages(self, queue: str) -> Iterator[list[str]]:
        found = pages(self._listing, bucket=self._bucket, prefix=letters_prefix(queue))
        while True:
            page = _refusable(partial(next, found, None))
            if page is None:
                return
            yield [each.key for each in page]

    def _read(self, key: str) -> ArchivedLetter | None:
        with suppress(MissingPayload):  # removed since it was listed
            opened = _refusable(partial(self._objects.open, bucket=self._bucket, key=key, version_id=None))
            try:
                return decode_letter(b"".join(iter(partial(opened.body.read, _PIECE), b"")))
            finally:
                opened.body.close()
        return None


def _refusable(call: Callable[[], _Answer]) -> _Answer:
    try:
        return call()
    except (AccessDenied, ReadRefused) as error:
        raise ArchiveRefused(
            f"the archive refuses to be read: {_code_behind(error)}; check s3:GetObject on {ARCHIVE_PREFIX}, "
            "s3:ListBucket, the bucket's name and policy, and its KMS key"
        ) from error


def _code_behind(error: Exception) -> str:
    """S3's own code of what one of our errors tells in words meant for payloads."""
    cause = error.__cause__
    return code_of(cause) if isinstance(cause, ClientError | BotoCoreError) else str(error)
