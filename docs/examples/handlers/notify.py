"""Tells another service about a file: an effect that no transaction of ours can hold."""

from typing import Protocol

from claim_check import Message, Transaction


class Mailer(Protocol):
    """A service that ignores a request whose key it has seen."""

    def send(self, text: str, *, idempotency_key: str) -> None:
        """Send a text."""


class Notify:
    """A handler that needs something: make one instance, and name its method as the handler."""

    def __init__(self, mailer: Mailer) -> None:
        """Use a mailer."""
        self._mailer = mailer

    def handle(self, message: Message, tx: Transaction) -> None:  # noqa: ARG002 - it writes no row of its own
        """Send one mail for each event, however often the event is delivered."""
        text = f"{message.content_length} bytes arrived for {message.tenant_id}"
        self._mailer.send(text, idempotency_key=message.effect_token)
