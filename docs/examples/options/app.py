"""What a pipeline for evidence might look like: customer key, versions, access logs, alarms that reach somebody."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_kms as kms

from claim_check_cdk import AccessLogBucket, AlarmTopic, ClaimCheckPipeline, PayloadBucket, RetentionTerms

HANDLERS = Path(__file__).parents[1] / "first_pipeline" / "invoices"

app = cdk.App()
stack = cdk.Stack(app, "Evidence")
key = kms.Key(stack, "Key", enable_key_rotation=True)
topic = AlarmTopic(stack, "AlarmTopic", encryption_key=key).topic
payloads = PayloadBucket(
    stack,
    "Payloads",
    versioned=True,
    encryption_key=key,
    access_logs_bucket=AccessLogBucket(stack, "AccessLogs").bucket,
)
for name in ("scan", "index"):
    ClaimCheckPipeline(
        stack,
        name.capitalize(),
        consumer_name=name,
        handler="invoices.handler:handle",
        handler_package=HANDLERS,
        bucket=payloads,
        encryption_key=key,
        tenants=["t-1", "t-2"],
        event_types={"EvidenceUploaded": [1, 2]},
        content_types=["application/pdf", "text/csv"],
        max_payload=cdk.Size.gibibytes(1),
        retention_terms=RetentionTerms(audit=cdk.Duration.days(30)),
        alarm_topic=topic,
    )
app.synth()
