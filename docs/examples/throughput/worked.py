"""What FIFO queues carry, worked out."""

from claim_check_cdk.fifo_throughput import (
    HEADING,
    HIGH_THROUGHPUT_MESSAGES,
    HIGH_THROUGHPUT_MESSAGES_ELSEWHERE,
    STANDARD_FIFO_MESSAGES,
    FifoThroughput,
    backlog,
    groups_for,
)

HANDLING = 0.1

print(HEADING)
for name, groups, limit in (
    ("one group for everything", 1, STANDARD_FIFO_MESSAGES),
    ("twenty tenants", 20, STANDARD_FIFO_MESSAGES),
    ("250 accounts", 250, STANDARD_FIFO_MESSAGES),
    ("5,000 accounts", 5_000, STANDARD_FIFO_MESSAGES),
    ("5,000, high throughput", 5_000, HIGH_THROUGHPUT_MESSAGES),
    ("5,000, high throughput in Mumbai", 5_000, HIGH_THROUGHPUT_MESSAGES_ELSEWHERE),
):
    print(FifoThroughput(name=name, handling=HANDLING, groups=groups, messages_per_second=limit).line())

print()
for rate in (10, 100, 2_500):
    groups = groups_for(rate, handling=HANDLING)
    print(f"groups that {rate:>5,} messages/s of {HANDLING * 1000:.0f} ms each need: {groups:>3}")

waiting = backlog(arriving=12, handling=HANDLING, seconds=3600)
print(f"\nA group that gets 12 messages/s and handles 10: {waiting:,} wait after an hour, and nothing catches up.")
