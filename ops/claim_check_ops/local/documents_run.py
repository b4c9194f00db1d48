"""The documents pipeline put to use: send everything, watch until all is settled, and judge how it ended."""

import tempfile
from pathlib import Path
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.filesize import decimal
from rich.table import Table

from claim_check.contract import Metric
from claim_check_ops.local.deployment import Deployment
from claim_check_ops.local.documents_outcomes import Outcomes, Seen
from claim_check_ops.local.documents_scenario import Scenario, Sent
from claim_check_ops.local.progress import ProgressBar
from claim_check_ops.local.queues import Queues
from claim_check_ops.local.waiting import wait_until

SETTLE_SECONDS: Final = 180.0
"""A payload that is gone is looked for five times, with growing pauses, before its message is parked."""

POLL_SECONDS: Final = 0.25

LOG_SECONDS: Final = 10.0
"""What a function printed can be read a moment after its invocation ended."""


class DocumentsRun:
    """One run of all documents.

    Attributes:
        sent: What was sent.
        seen: What became of it, by case.
        problems: What is wrong with the run as a whole.
    """

    def __init__(self, deployment: Deployment) -> None:
        """Prepare a run against a deployment."""
        self._deployment = deployment
        self._outcomes = Outcomes(deployment, Queues(deployment))
        self.sent: list[Sent] = []
        self.seen: dict[str, Seen] = {}
        self.problems: list[str] = []

    @property
    def succeeded(self) -> bool:
        """Whether every message ended as it must."""
        settled = all(one.case in self.seen and not self.seen[one.case].problems for one in self.sent)
        return bool(self.sent) and settled and not self.problems

    def execute(self, bar: ProgressBar, *, sabotage: str | None = None) -> None:
        """Send, watch, judge.

        Args:
            bar: Shows how far it is.
            sabotage: Name of a case whose payload vanishes before it is read.
        """
        before = self._totals()
        with tempfile.TemporaryDirectory() as folder:
            cases = Scenario(self._deployment, Path(folder), sabotage=sabotage).cases()
            for later in (False, True):
                for case in (one for one in cases if one.later is later):
                    bar.show(f"sending: {case.name}", len(self.seen), len(cases))
                    self.sent.append(case.send())
                self._watch(bar, len(cases))
            self._check_totals(before)

    def table(self) -> Table:
        """One row per message: what was sent, how, and what became of it."""
        table = Table(title="Documents: what became of every message", box=SIMPLE_HEAD, title_justify="left")
        for heading in ("sent", "by", "as", "size", "outcome", "seconds", "right"):
            number = heading in {"size", "seconds"}
            table.add_column(heading, justify="right" if number else "left", no_wrap=heading in {"sent", "outcome"})
        for sent in self.sent:
            table.add_row(*_cells(sent, self.seen.get(sent.case)))
        return table

    def document(self) -> dict[str, object]:
        """The same for machines."""
        rows = [_row(sent, self.seen.get(sent.case)) for sent in self.sent]
        return {"succeeded": self.succeeded, "problems": self.problems, "messages": rows}

    def _watch(self, bar: ProgressBar, total: int) -> None:
        def settled() -> bool:
            self.seen = self._outcomes.look(self.sent)
            waiting = [one.case for one in self.sent if one.case not in self.seen]
            bar.show(f"waiting for: {', '.join(waiting)}" if waiting else "settled", len(self.seen), total)
            return not waiting

        try:
            wait_until(settled, what="every message to be settled", timeout=SETTLE_SECONDS, interval=POLL_SECONDS)
        except TimeoutError as error:
            self.problems.append(str(error))

    def _check_totals(self, before: tuple[int, int]) -> None:
        """Every effect once: as many new rows, and as many messages counted as processed, as files to be processed."""
        expected = sum(1 for one in self.sent if one.expected.outcome == "processed")
        goal = (before[0] + expected, before[1] + expected)
        try:
            wait_until(lambda: self._totals() == goal, what="rows and metrics", timeout=LOG_SECONDS)
        except TimeoutError:
            rows, counted = (now - then for now, then in zip(self._totals(), before, strict=True))
            self.problems.append(f"{expected} files: {rows} document rows, {counted} counted as processed")

    def _totals(self) -> tuple[int, int]:
        """Document rows, and messages that the consumer counted as processed."""
        documents = self._deployment.aws.lambda_metrics(self._deployment.consumer_function)
        counted = sum(int(value) for document in documents for value in document.get(Metric.PROCESSED, []))
        return self._outcomes.documents(), counted


def _cells(sent: Sent, seen: Seen | None) -> tuple[str, ...]:
    first = (sent.case, sent.way, sent.shape, decimal(sent.size))
    if seen is None:
        return (*first, "[red]not settled[/red]", "", "")
    words = {"processed": "processed once", "duplicate": "duplicate", "parked": f"parked: {seen.code}"}
    verdict = f"[red]{'; '.join(seen.problems)}[/red]" if seen.problems else "[green]yes[/green]"
    return (*first, words[seen.outcome], f"{seen.seconds:.1f}", verdict)


def _row(sent: Sent, seen: Seen | None) -> dict[str, object]:
    first = {"case": sent.case, "way": sent.way, "shape": sent.shape, "size": sent.size}
    if seen is None:
        return {**first, "outcome": None, "code": None, "seconds": None, "problems": ["not settled"]}
    return {
        **first,
        "outcome": seen.outcome,
        "code": seen.code,
        "seconds": round(seen.seconds, 3),
        "problems": list(seen.problems),
    }
