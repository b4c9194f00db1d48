"""Direct uploads in memory: what S3 does with a presigned PUT, with tags, and with what is never confirmed."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import parse_qsl, urlencode

from claim_check import contract
from claim_check.errors import MissingPayload
from claim_check.ports import SignedPut, StoredObject
from tests.fakes.object_store import FakeObjectStore

OK, FORBIDDEN, EXISTS, BAD_DIGEST = 200, 403, 412, 400


@dataclass
class FakeUploadStore:
    """The `UploadStore` port beside a `FakeObjectStore`, whose clock, faults and objects it shares.

    Attributes:
        objects: The objects.
        granted: Every grant, with its place and its end, by URL.
        tag_sets: Tags by bucket and key.
    """

    objects: FakeObjectStore
    granted: dict[str, tuple[str, str, float, Mapping[str, str]]] = field(default_factory=dict)
    tag_sets: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)

    def sign_put(
        self,
        *,
        bucket: str,
        key: str,
        content_length: int,
        content_type: str,
        sha256: str,
        metadata: Mapping[str, str],
        tags: Mapping[str, str],
        expires_seconds: int,
    ) -> SignedPut:
        """Sign a PUT."""
        with self.objects.faults.around("sign_put"):
            headers = {
                "content-length": str(content_length),
                "content-type": content_type,
                "if-none-match": "*",
                "x-amz-checksum-sha256": base64.b64encode(bytes.fromhex(sha256)).decode(),
                "x-amz-tagging": urlencode(tags),
                **{f"x-amz-meta-{name}": value for name, value in metadata.items()},
            }
            url = f"https://s3/{bucket}/{key}?signature={len(self.granted)}"
            self.granted[url] = (bucket, key, self.objects.clock.now() + expires_seconds, headers)
            return SignedPut(url=url, headers=headers)

    def head(self, *, bucket: str, key: str) -> StoredObject | None:
        """Look at an object."""
        return self.objects.head(bucket=bucket, key=key)

    def tags(self, *, bucket: str, key: str, version_id: str | None) -> Mapping[str, str]:
        """Tags of an object."""
        with self.objects.faults.around("tags"):
            self._require(bucket, key, version_id)
            return dict(self.tag_sets.get((bucket, key), {}))

    def replace_tags(self, *, bucket: str, key: str, version_id: str | None, tags: Mapping[str, str]) -> None:
        """Give an object these tags."""
        with self.objects.faults.around("replace_tags"):
            self._require(bucket, key, version_id)
            self.tag_sets[bucket, key] = dict(tags)

    # --- What happens outside ---------------------------------------------------------------------------------------

    def upload(self, put: SignedPut, content: bytes, **changed: str) -> int:
        """What S3 answers to a client that uploads, perhaps with other headers (``_`` for ``-``) than were granted."""
        bucket, key, expires_at, signed = self.granted[put.url]
        headers = {**put.headers, **{name.replace("_", "-"): value for name, value in changed.items()}}
        if self.objects.clock.now() > expires_at or headers != dict(signed):
            return FORBIDDEN
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        if len(content) != int(headers["content-length"]) or digest != headers["x-amz-checksum-sha256"]:
            return BAD_DIGEST
        if self.objects.content(bucket, key) is not None:
            return EXISTS
        start = "x-amz-meta-"
        metadata = {name.removeprefix(start): value for name, value in headers.items() if name.startswith(start)}
        self.objects._write(bucket, key, content, headers["content-type"], metadata)
        self.tag_sets[bucket, key] = dict(parse_qsl(headers["x-amz-tagging"]))
        return OK

    def expire_unconfirmed(self) -> None:
        """What the lifecycle rule for unconfirmed uploads deletes by now."""
        now = self.objects.clock.now()
        for (bucket, key), tags in list(self.tag_sets.items()):
            found = self.objects._current(bucket, key)
            unconfirmed = tags.get(contract.TAG_STATE) == contract.TAG_UNCONFIRMED
            if found is not None and unconfirmed and _age(found.info.last_modified, now) > contract.UNCONFIRMED_SECONDS:
                self.objects.delete(bucket, key)
                del self.tag_sets[bucket, key]

    def _require(self, bucket: str, key: str, version_id: str | None) -> None:
        found = self.objects._current(bucket, key)
        if found is None or version_id not in {None, found.info.version_id}:
            raise MissingPayload("there is no such object")


def _age(moment: datetime | None, now: float) -> float:
    assert moment is not None
    return now - moment.timestamp()
