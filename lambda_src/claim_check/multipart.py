"""Large payloads, uploaded in parts side by side and completed only if their key is free (R2.4).

An upload is no object before it is completed: whoever dies on the way leaves parts that nobody sees, which the bucket's
lifecycle aborts after a day. Whoever fails without dying aborts them itself.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from typing import Final, TypeVar

from claim_check.errors import PublishError, Unavailable
from claim_check.payload_source import Part, PayloadSource
from claim_check.ports import Clock, ObjectStore, UploadedPart, UploadGone, WriteConflict
from claim_check.retries import Retry

PARALLEL_PARTS: Final = 4
"""Parts of one payload that are on their way at once. Memory does not depend on it: bodies stream."""

_Answer = TypeVar("_Answer")


class MultipartUploads:
    """Uploads payloads in parts. Safe to share between threads."""

    def __init__(
        self,
        objects: ObjectStore,
        *,
        bucket: str,
        before_send_seconds: float,
        clock: Clock,
        random: Callable[[], float],
        retry: Retry,
        parallel: int = PARALLEL_PARTS,
    ) -> None:
        """Upload into one bucket.

        Args:
            objects: The object store.
            bucket: Bucket of the payloads.
            before_send_seconds: Longest that an upload may take: a multipart object's age counts from its initiation.
            clock: Time.
            random: Draws from [0, 1) for the jitter.
            retry: How each call is retried; its budget counts for every call anew, however long the upload takes.
            parallel: Parts of one payload at once; 1 uses no threads.
        """
        self._objects = objects
        self._bucket = bucket
        self._before_send = before_send_seconds
        self._clock = clock
        self._random = random
        self._retry = replace(retry, budget=math.inf)
        self._parallel = parallel

    def put_if_absent(
        self, source: PayloadSource, *, key: str, content_type: str, metadata: Mapping[str, str]
    ) -> str | None:
        """Upload a payload's parts and make an object of them unless the key exists. Returns the version id, if any.

        Raises:
            ObjectExists: The key exists.
            WriteConflict: Everything must be uploaded anew.
            Unavailable: It is unknown whether the object was written.
            PublishError: Nothing was written.
        """
        began = self._clock.now()
        upload_id = self._call(
            lambda: self._objects.start_upload(
                bucket=self._bucket, key=key, content_type=content_type, metadata=metadata
            )
        )
        try:
            parts = self._send(source, key, upload_id)
            self._check_age(began)
            return self._call(
                lambda: self._objects.complete_upload_if_absent(
                    bucket=self._bucket,
                    key=key,
                    upload_id=upload_id,
                    parts=parts,
                    content_length=source.content_length,
                )
            )
        except BaseException as error:
            self._abort(key, upload_id)
            if isinstance(error, UploadGone):
                raise WriteConflict from error
            raise

    # --- Parts ------------------------------------------------------------------------------------------------------

    def _send(self, source: PayloadSource, key: str, upload_id: str) -> list[UploadedPart]:
        stopped = threading.Event()

        def send(part: Part) -> UploadedPart:
            return self._send_part(source, part, key, upload_id, stopped)

        workers = min(self._parallel, len(source.parts)) if source.side_by_side else 1
        if workers == 1:
            return [send(part) for part in source.parts]
        with ThreadPoolExecutor(workers, thread_name_prefix="part") as pool:
            try:
                sent = [pool.submit(send, part) for part in source.parts]
                wait(sent, return_when=FIRST_EXCEPTION)
                _raise_first(sent)
            except BaseException:
                stopped.set()  # what is on its way ends at its next read, so that nothing arrives after the abort
                pool.shutdown(cancel_futures=True)
                raise
        return [one.result() for one in sent]

    def _send_part(
        self, source: PayloadSource, part: Part, key: str, upload_id: str, stopped: threading.Event
    ) -> UploadedPart:
        body = source.part_body(part, stopped=stopped)

        def send() -> UploadedPart:
            body.seek(0)
            return self._objects.upload_part(
                bucket=self._bucket,
                key=key,
                upload_id=upload_id,
                number=part.number,
                body=body,
                content_length=part.content_length,
                sha256=part.sha256,
            )

        try:
            return self._call(send, also=WriteConflict)
        except (Unavailable, WriteConflict) as error:
            raise PublishError(
                f"payload: part {part.number} of {len(source.parts)} not taken after {self._retry.attempts} attempts: "
                f"{str(error) or 'conflicting operations'}; publish it again"
            ) from error

    def _check_age(self, began: float) -> None:
        took = self._clock.now() - began
        if took > self._before_send:
            raise PublishError(
                f"payload: its upload took {took:.0f} s, and its life counts from the beginning; allowed: up to "
                f"{self._before_send:.0f} s; raise before_send, or upload from nearer"
            )

    # --- Calls ------------------------------------------------------------------------------------------------------

    def _call(self, call: Callable[[], _Answer], *, also: type[Exception] = Unavailable) -> _Answer:
        """Make a call, and again while the store is not available; the last failure is the caller's."""
        problem: Exception = Unavailable("no attempt was made")
        for _ in self._retry.tries(self._clock, self._random):
            try:
                return call()
            except (Unavailable, also) as error:
                problem = error
        raise problem

    def _abort(self, key: str, upload_id: str) -> None:
        """Remove what was uploaded; where that fails, too, the bucket's lifecycle does it."""
        with suppress(Exception):  # what made it abort is what the caller must see
            self._call(lambda: self._objects.abort_upload(bucket=self._bucket, key=key, upload_id=upload_id))


def _raise_first(futures: Sequence[Future[UploadedPart]]) -> None:
    """Raise what ended the first part that failed, in the order of the parts."""
    for future in futures:
        if future.done() and (error := future.exception()) is not None:
            raise error
