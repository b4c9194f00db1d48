"""`AlarmTopic`: alarms reach it, over TLS only (R11, R12.1)."""

from __future__ import annotations

import pytest
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Template

from claim_check_cdk import AlarmTopic, InvalidSettingsError
from tests.infrastructure.kit import findings, make_stack, only, resources, statements

ACCOUNT = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


def test_cloudwatch_of_this_account_may_publish_and_nobody_without_tls() -> None:
    """A policy replaces the default one, under which alarms could publish: they need a statement of their own."""
    stack = make_stack()
    AlarmTopic(stack, "Alarms")
    refused, allowed = statements(only(Template.from_stack(stack), "AWS::SNS::TopicPolicy"))
    assert (refused["Effect"], refused["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    assert (allowed["Effect"], allowed["Action"]) == ("Allow", "sns:Publish")
    assert allowed["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert allowed["Condition"] == ACCOUNT


def test_cloudwatch_may_use_the_customers_key() -> None:
    """Without it, alarms to an encrypted topic are dropped in silence."""
    stack = make_stack()
    AlarmTopic(stack, "Alarms", encryption_key=kms.Key(stack, "Key", enable_key_rotation=True))
    template = Template.from_stack(stack)
    assert "KmsMasterKeyId" in only(template, "AWS::SNS::Topic")
    policy = only(template, "AWS::KMS::Key")["KeyPolicy"]["Statement"]
    (allowed,) = (one for one in policy if one.get("Sid") == "AlarmsOfThisAccount")
    assert allowed["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert allowed["Action"] == ["kms:Decrypt", "kms:GenerateDataKey*"]
    assert allowed["Condition"] == ACCOUNT


def test_addresses_are_subscribed() -> None:
    stack = make_stack()
    AlarmTopic(stack, "Alarms", emails=["oncall@example.com", "lead@example.com"])
    found = resources(Template.from_stack(stack), "AWS::SNS::Subscription").values()
    assert {(one["Protocol"], one["Endpoint"]) for one in found} == {
        ("email", "oncall@example.com"),
        ("email", "lead@example.com"),
    }
    assert findings(stack) == []


@pytest.mark.parametrize("emails", [["oncall"], "oncall@example.com"], ids=str)
def test_what_is_no_list_of_addresses_is_refused(emails: list[str]) -> None:
    with pytest.raises(InvalidSettingsError, match="emails = "):
        AlarmTopic(make_stack(), "Alarms", emails=emails)
