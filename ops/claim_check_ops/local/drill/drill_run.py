"""One drill: fill, mend, sample, redrive under limits, and judge what it did."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.filesize import decimal
from rich.table import Table

from claim_check.adapters.inbox_items import to_row
from claim_check.contract import InboxAttribute, Metric, inbox_key
from claim_check_examples.documents import document_key
from claim_check_ops.dlq.desk import Desk, desk
from claim_check_ops.dlq.journal import MemoryJournal
from claim_check_ops.dlq.letters import DeadLetter
from claim_check_ops.dlq.pace import Limit
from claim_check_ops.dlq.redriving import Orders
from claim_check_ops.dlq.report import Report
from claim_check_ops.dlq.selecting import Selection, ids_of
from claim_check_ops.dlq.surveying import survey
from claim_check_ops.dlq.times import span
from claim_check_ops.local.deployment import Deployment
from claim_check_ops.local.drill.consumer_switch import ConsumerSwitch
from claim_check_ops.local.drill.counting_proxy import CountingProxy, Read, peak
from claim_check_ops.local.drill.mix import EXPECTED, TENANT, Filler, Kind, Mix, Put
from claim_check_ops.local.progress import ProgressBar
from claim_check_ops.local.waiting import wait_until

SETTLE_SECONDS: Final = 600.0
LOG_SECONDS: Final = 20.0
WINDOW_SECONDS: Final = 10.0
"""The limits are checked over every stretch of this length, too: a consumer fetches in bunches."""

ALLOWED: Final = 1.1
"""Ten percent above a limit are measured and not a fault."""


@dataclass
class _Told:
    """Passes the redrive's steps on to the drill's bar."""

    bar: ProgressBar
    total: int
    done: int = 0
    text: str = "redriving"

    def step(self, text: str) -> None:
        """What is done now."""
        self.text = f"redriving: {text}"
        self.bar.show(self.text, self.done, self.total)

    def moved(self, messages: int, payload_bytes: int) -> None:  # noqa: ARG002 - the port's signature
        """So much more was sent."""
        self.done += messages
        self.bar.show("redriving", self.done, self.total)


@dataclass
class DrillRun:
    """One drill against a deployed documents pipeline.

    Attributes:
        deployment: The pipeline.
        mix: What is put into its DLQ.
        limit: How fast the redrive may be.
        reports: What the redrives did.
        reads: What the consumer read of S3 from the first copy on.
        problems: What is not as it must be.
        figures: What was measured, in words.
    """

    deployment: Deployment
    mix: Mix
    limit: Limit
    reports: list[Report] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    figures: dict[str, str] = field(default_factory=dict)
    _rows: list[tuple[str, int, int, int, bool]] = field(default_factory=list)

    @property
    def succeeded(self) -> bool:
        """Whether everything is as it must be."""
        return bool(self.reports) and not self.problems

    def execute(self, bar: ProgressBar) -> None:
        """Do it all."""
        with CountingProxy(self.deployment.aws.endpoint_url) as door:
            switch = ConsumerSwitch(self.deployment, s3_endpoint=door.url)
            filler = Filler(self.deployment, self.mix, bar.show)
            dead_before = self._dead()
            try:
                switch.break_it()
                filler.fill()
                self._await_dead(bar, dead_before + len(filler.put))
                filler.spoil()
                before = self._processed()
                switch.mend()
                self._redo(filler, bar)
                began = time.monotonic()
                self._redrive(filler.put, bar)
                self.reads = door.reads.since(began)
                self._judge(filler.put, before)
            finally:
                switch.restore()

    # --- Steps ------------------------------------------------------------------------------------------------------

    def _desk(self) -> Desk:
        return desk(self.deployment.consumer, clients=self.deployment.clients)

    def _await_dead(self, bar: ProgressBar, total: int) -> None:
        def all_dead() -> bool:
            dead = self._dead()
            bar.show("waiting until all failed", dead, total)
            return dead >= total and self._source_is_empty()

        wait_until(all_dead, what="all to fail", timeout=SETTLE_SECONDS, interval=0.5)

    def _redo(self, filler: Filler, bar: ProgressBar) -> None:
        """Let some be done before the redrive, as a producer that publishes again does."""
        again = filler.again()
        bar.show("waiting for what was published again", 0, len(again))
        ids = [one.message_id for one in again]
        wait_until(lambda: self._documents(ids) == len(ids), what="what was published again", timeout=SETTLE_SECONDS)

    def _redrive(self, put: Sequence[Put], bar: ProgressBar) -> None:
        """All that can go, then what was moved by hand, to the queue that is named."""
        place, total = self._desk(), sum(not EXPECTED[one.kind].stays for one in put)
        told = _Told(bar, total)
        orders = Orders(
            selection=Selection(tenants={TENANT, "-"}),
            limit=self.limit,
            max_failures=self.mix.each,
            settle_seconds=SETTLE_SECONDS,
        )
        self._run(place, orders, told, to=None)
        by_hand = {one.message_id for one in put if one.kind == "by hand"}
        orders = Orders(selection=Selection(ids=by_hand), limit=self.limit, settle_seconds=SETTLE_SECONDS)
        self._run(place, orders, told, to=self.deployment.consumer.queue_url.rpartition("/")[2])
        told.step("waiting until all is settled")
        wait_until(self._source_is_empty, what="an empty queue", timeout=SETTLE_SECONDS, interval=0.5)

    def _run(self, place: Desk, orders: Orders, told: _Told, *, to: str | None) -> None:
        journal = MemoryJournal(f"drill-{len(self.reports) + 1}")
        report = place.redriver(place.court(to=to), orders, journal=journal, told=told).run()
        self.reports.append(report)
        if report.stopped is not None:
            self.problems.append(f"redrive {report.run} stopped: {report.stopped}")

    # --- Judging ----------------------------------------------------------------------------------------------------

    def _judge(self, put: Sequence[Put], before: int) -> None:
        self._judge_kinds(put)
        self._judge_effects(put, before)
        self._judge_limits()

    def _judge_kinds(self, put: Sequence[Put]) -> None:
        """Of each kind: whose effect is there, and what lies in the DLQ, for which reason."""
        place = self._desk()
        left = survey(place.new_sources(), place.assessor, limit=None).letters
        kinds = {one.message_id: one.kind for one in put}
        in_dlq = Counter(kind for letter in left if (kind := _kind_of(letter, kinds)) is not None)
        stayed = self.reports[0].stayed
        why = Counter((kind, one.code) for one in stayed if (kind := kinds.get(one.known_as)) is not None)
        for kind, expected in EXPECTED.items():
            ids = [one.message_id for one in put if one.kind == kind]
            done = self._documents(ids)
            stays = why[kind, expected.why] if expected.why else 0
            right = (
                done == (len(ids) if expected.processed else 0)
                and in_dlq[kind] == (len(ids) if expected.stays else 0)
                and (expected.why in {None, "CameBack"} or stays == len(ids))
            )
            self._rows.append((kind, len(ids), done, in_dlq[kind], right))
            if not right:
                self.problems.append(
                    f"{kind}: of {len(ids)}, {done} processed, {in_dlq[kind]} in the DLQ, {stays} left"
                )

    def _judge_effects(self, put: Sequence[Put], before: int) -> None:
        """Exactly once: a commit for each event whose effect must be there, and no other; all of them marked."""
        wanted = sum(EXPECTED[one.kind].processed for one in put)
        found = 0
        try:
            wait_until(lambda: self._processed() - before >= wanted, what="the consumer's records", timeout=LOG_SECONDS)
        except TimeoutError:
            pass
        finally:
            found = self._processed() - before
        self.figures["effects committed"] = f"{found}, for {wanted} events"
        if found != wanted:
            self.problems.append(f"{wanted} effects must be committed, and the consumer's records have {found}")
        unmarked = [one for one in put if one.kind in {"large claim", "inline"} and not self._is_marked(one)]
        if unmarked:
            self.problems.append(f"{len(unmarked)} redriven events are not marked as such in the inbox")

    def _judge_limits(self) -> None:
        moved, seconds = len(self.reports[0].moved), self.reports[0].seconds
        sent_bytes = self.reports[0].payload_bytes
        self.figures["sent"] = f"{moved} messages, {decimal(sent_bytes)} of payload, in {span(seconds)}"
        if not self.reads:
            self.problems.append("nobody read a payload")
            return
        total, took = sum(read.size for read in self.reads), max(1.0, self.reads[-1].at - self.reads[0].at)
        most_reads, most_bytes = peak(self.reads, WINDOW_SECONDS)
        rate, by_bytes = self.limit.rate, self.limit.bytes_per_second or float("inf")
        self.figures["GETs of payloads"] = f"{len(self.reads)}, {decimal(total)}, in {span(took)}"
        self.figures["GETs per second"] = (
            f"{len(self.reads) / took:.1f} on average, {most_reads / WINDOW_SECONDS:.1f} in the busiest "
            f"{WINDOW_SECONDS:g} s; limit {rate:g}"
        )
        self.figures["bytes per second"] = (
            f"{decimal(int(total / took))} on average, {decimal(int(most_bytes / WINDOW_SECONDS))} in the busiest "
            f"{WINDOW_SECONDS:g} s; limit {decimal(int(by_bytes))}"
        )
        if most_reads > ALLOWED * rate * WINDOW_SECONDS:
            self.problems.append(f"{most_reads} GETs within {WINDOW_SECONDS:g} s: the limit is {rate:g} a second")
        if most_bytes > ALLOWED * by_bytes * WINDOW_SECONDS + self.mix.largest:
            self.problems.append(f"{decimal(most_bytes)} read within {WINDOW_SECONDS:g} s: more than the limit")

    # --- Looking ----------------------------------------------------------------------------------------------------

    def _dead(self) -> int:
        place = self._desk()
        facts = place.directory.facts(place.dlq_url)
        return facts.visible + facts.in_flight

    def _source_is_empty(self) -> bool:
        facts = self._desk().directory.facts(self.deployment.consumer.queue_url)
        return facts.visible + facts.in_flight == 0

    def _documents(self, ids: Sequence[str]) -> int:
        """How many of these events have their document row."""
        dynamodb, table = self.deployment.aws.dynamodb, self.deployment.table
        found = 0
        for start in range(0, len(ids), 100):
            keys = [{"pk": {"S": document_key(TENANT, identity)}} for identity in ids[start : start + 100]]
            answer = dynamodb.batch_get_item(RequestItems={table: {"Keys": keys, "ConsistentRead": True}})
            found += len(answer["Responses"].get(table, []))
        return found

    def _processed(self) -> int:
        """Messages that the consumer counted as processed so far."""
        documents = self.deployment.aws.lambda_metrics(self.deployment.consumer_function)
        return sum(int(value) for document in documents for value in document.get(Metric.PROCESSED, []))

    def _is_marked(self, one: Put) -> bool:
        consumer = self.deployment.consumer
        key = inbox_key(consumer=consumer.consumer, tenant_id=TENANT, idempotency_key=one.message_id)
        answer = self.deployment.aws.dynamodb.get_item(
            TableName=consumer.inbox_table, Key={InboxAttribute.KEY: {"S": key}}
        )
        item = answer.get("Item")
        return item is not None and to_row(item).redriven == 1

    # --- Showing ----------------------------------------------------------------------------------------------------

    def table(self) -> Table:
        """One row per kind of dead letter."""
        table = Table(title="Replay drill", box=SIMPLE_HEAD, title_justify="left")
        for heading in ("dead letters", "put", "processed", "in the DLQ", "right"):
            table.add_column(heading, justify="right" if heading in {"put", "processed", "in the DLQ"} else "left")
        for kind, put, done, left, right in self._rows:
            verdict = "[green]yes[/green]" if right else "[red]no[/red]"
            table.add_row(kind, str(put), str(done), str(left), verdict)
        return table

    def document(self) -> dict[str, object]:
        """The same for machines."""
        names = ("kind", "put", "processed", "inDlq", "right")
        return {
            "succeeded": self.succeeded,
            "problems": self.problems,
            "kinds": [dict(zip(names, row, strict=True)) for row in self._rows],
            "figures": self.figures,
            "redrives": [{"run": one.run, "moved": len(one.moved), "outcomes": one.fates()} for one in self.reports],
        }


def _kind_of(letter: DeadLetter, kinds: Mapping[str, Kind]) -> Kind | None:
    return next((kinds[identity] for identity in sorted(ids_of(letter)) if identity in kinds), None)
