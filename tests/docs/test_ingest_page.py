"""The page about ingesting S3 events: its worked example, its handlers, its app and its costs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from claim_check.contract import Metric
from tests.docs.kit import DOCS, ROOT
from tests.docs.test_examples import load, synthesize
from tests.fakes.ingest import FakeBucket
from tests.ingest_world import IngestWorld

EXAMPLE: Final = DOCS / "examples" / "ingest"
PAGE: Final = (DOCS / "how-to" / "ingest-s3-events.md").read_text(encoding="utf-8")
KEY: Final = "incoming/a.csv"
SEQUENCERS: Final = ("0055AED6DCD90281E3", "0055AED6DCD90281E5", "0055AED6DCD90281E7")
WORDS: Final = {
    Metric.INGESTED_PUTS: "applied",
    Metric.INGESTED_DELETES: "applied: a tombstone",
    Metric.INGEST_STALE: "older than the ledger: nothing",
}


def three_events(bucket: FakeBucket) -> list[dict[str, Any]]:
    """Written, overwritten, removed."""
    records = [bucket.put(KEY, b"one\n"), bucket.put(KEY, b"two\n"), bucket.delete(KEY)]
    for record, sequencer in zip(records, SEQUENCERS, strict=True):
        record["s3"]["object"]["sequencer"] = sequencer
    return records


def outcomes(monkeypatch: pytest.MonkeyPatch, arrival: Sequence[int]) -> dict[int, str]:
    """What the ledger does with each event, in the order in which they arrive; the handlers' row ends removed."""
    monkeypatch.setenv("CATALOGUE_TABLE", "catalogue")
    handlers, world = load("ingest/catalogue/handlers.py"), IngestWorld(versioned=True)
    ingester, records, found = world.ingester(handlers.add, handlers.remove), three_events(world.bucket), {}
    for number in arrival:
        before = Counter(world.telemetry.counts)
        world.handle(records[number], ingester=ingester)
        (metric,) = WORDS.keys() & (Counter(world.telemetry.counts) - before).keys()
        found[number] = WORDS[metric]
    assert (world.ledger.applied[-1].action, world.ledger.applied[-1].key) == ("Delete", {"key": KEY})
    return found


def test_the_worked_example_ends_the_same_in_both_orders(monkeypatch: pytest.MonkeyPatch) -> None:  # R10.2
    forwards = outcomes(monkeypatch, [0, 1, 2])
    backwards = outcomes(monkeypatch, [2, 1, 0])
    what = ("written", "overwritten", "removed")
    rows = ["| the object is | sequencer | arriving first to last | arriving last to first |", "|---|---|---|---|"]
    rows += [
        f"| {what[number]} | `{SEQUENCERS[number]}` | {forwards[number]} | {backwards[number]} |" for number in range(3)
    ]
    assert "\n".join(rows) in PAGE


def test_the_example_s_app_has_what_the_page_says(tmp_path: Path) -> None:
    template = synthesize(EXAMPLE / "app.py", tmp_path)
    made = [one["Type"] for one in template["Resources"].values()]
    assert made.count("AWS::S3::Bucket") == 2
    text = json.dumps(template["Outputs"])
    assert "QueueConfigurations" in text
    assert "s3:ObjectRemoved:*" in text


def test_the_costs_are_what_the_example_prints() -> None:
    done = subprocess.run(  # noqa: S603 - our own file
        [sys.executable, str(EXAMPLE / "cost.py")], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert f"```\n{done.stdout}```" in PAGE
