"""Three plans, worked out."""

from claim_check_cdk import RetentionPlan

DAY = 86_400

for plan in (
    RetentionPlan(name="a FIFO queue that is never redriven", source=14 * DAY, dlq=14 * DAY, redrive_rounds=0),
    RetentionPlan(name="a queue with the defaults", source=4 * DAY, dlq=14 * DAY, processing=18 * 60),
    RetentionPlan(name="a replay within 30 days", source=4 * DAY, dlq=14 * DAY, archive=31 * DAY),
):
    print(f"{plan.table()}\n")
