"""Which ingest a command is about (R10.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from botocore.exceptions import ClientError

from claim_check.contract import Setting
from claim_check_ops.ingests import IngestNotFound, ingest_settings


def variables(name: str, **more: str) -> dict[str, str]:
    """Variables of an ingest's function."""
    return {
        Setting.INGEST: name,
        Setting.INGEST_BUCKET: f"bucket-{name}",
        Setting.INGEST_QUEUE_URL: f"https://sqs/0/{name}",
        Setting.LEDGER_TABLE: "ledger",
        **more,
    }


RECONCILER = {Setting.INGEST_RECONCILE_EVERY: "900", Setting.INGEST_FILTERS: '[{"prefix":"in/"}]'}


class Functions:
    """Lambda, as far as it is asked."""

    def __init__(self, **functions: Mapping[str, str]) -> None:
        """Have these functions, by name, with these variables."""
        self._functions = functions

    def get_function_configuration(self, *, FunctionName: str) -> dict[str, Any]:  # noqa: N803 - boto3's name
        """Tell of one."""
        if FunctionName not in self._functions:
            raise ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "GetFunctionConfiguration")
        return {"Environment": {"Variables": self._functions[FunctionName]}}

    def get_paginator(self, _: str) -> Functions:
        """All of them, in pages of one."""
        return self

    def paginate(self) -> Iterator[dict[str, Any]]:
        """One page each; a function without variables, too."""
        yield {"Functions": [{"FunctionName": "without-variables"}]}
        for name, one in self._functions.items():
            yield {"Functions": [{"FunctionName": name, "Environment": {"Variables": one}}]}


def found(environment: Mapping[str, str] | None = None, functions: Functions | None = None, **options: Any) -> Any:  # noqa: ANN401 - arguments
    """Settings that are found."""
    client: Any = functions or Functions()
    return ingest_settings(environment or {}, functions=client, **options)


def test_a_named_function_tells_everything() -> None:
    functions = Functions(f=variables("a", **RECONCILER), other={"X": "y"})
    settings = found(variables("b"), functions, function="f")
    assert (settings.name, settings.bucket, settings.every_seconds) == ("a", "bucket-a", 900)
    with pytest.raises(IngestNotFound, match="belongs to no ingest"):
        found(functions=functions, function="other")
    with pytest.raises(IngestNotFound, match="cannot be looked at"):
        found(functions=functions, function="absent")


def test_the_environment_tells_it_unless_another_is_named() -> None:
    functions = Functions(f=variables("a"))
    assert found(variables("b"), functions).name == "b"
    assert found(variables("b"), functions, ingest="b").name == "b"
    assert found(variables("b"), functions, ingest="a").name == "a"


def test_the_only_ingest_is_the_one_and_its_reconciliation_knows_the_most() -> None:
    functions = Functions(ingester=variables("a"), reconciler=variables("a", **RECONCILER), other={"X": "y"})
    settings = found(functions=functions)
    assert (settings.name, settings.every_seconds, settings.filters[0].prefix) == ("a", 900, "in/")


def test_of_several_none_is_guessed() -> None:
    functions = Functions(f=variables("a"), g=variables("b"))
    with pytest.raises(IngestNotFound, match=r"2 ingests .* There are: a, b\."):
        found(functions=functions)
    assert found(functions=functions, ingest="b").bucket == "bucket-b"
    with pytest.raises(IngestNotFound, match=r"0 ingests .* There are: none\."):
        found()


def test_what_is_said_on_the_command_line_wins() -> None:
    functions = Functions(f=variables("a", **RECONCILER))
    assert found(functions=functions, overrides={Setting.INGEST_RECONCILE_RATE: "7"}).rate == 7
