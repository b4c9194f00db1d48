"""What a million notifications cost: prices of us-east-1 on 30 November 2026, in dollars, without free tiers."""

SQS_STANDARD, SQS_FIFO = 0.40e-6, 0.50e-6  # a request
LAMBDA_REQUEST, LAMBDA_GB_SECOND = 0.20e-6, 0.0000133334  # arm64
DYNAMODB_WRITE, DYNAMODB_READ = 0.625e-6, 0.125e-6  # a request unit, billed on demand
S3_GET, S3_LIST = 0.40e-6, 5.00e-6  # a request
EVENTBRIDGE = 1.00e-6  # an event of S3's

EVENTS = 1_000_000
BATCH = 10  # messages of an invocation on a busy queue
GB, SECONDS = 0.5, 0.05  # memory of the ingester, time for one event of a batch
WRITES = 2  # rows of a transaction: the ledger's and one of the handler's
FORWARDER_SECONDS = 0.02

direct = {
    "SQS": EVENTS * (1 + 2 / BATCH) * SQS_STANDARD,
    "Lambda": EVENTS * (LAMBDA_REQUEST / BATCH + GB * SECONDS * LAMBDA_GB_SECOND),
    "DynamoDB": EVENTS * (DYNAMODB_READ + 2 * WRITES * DYNAMODB_WRITE),
    "S3": EVENTS * S3_GET,
    "EventBridge": 0.0,
}
ordered = direct | {
    "SQS": EVENTS * (1 + 2 / BATCH) * SQS_FIFO,
    "Lambda": direct["Lambda"] + EVENTS * (LAMBDA_REQUEST + GB * FORWARDER_SECONDS * LAMBDA_GB_SECOND),
    "EventBridge": EVENTS * EVENTBRIDGE,
}
reconciled = EVENTS / 1000 * S3_LIST + EVENTS * 0.3 / 4 * DYNAMODB_READ  # a listing, and rows of 0.3 KB

print(f"{'a million events':<22}{'S3 notifies':>12}{'in order':>12}")
for name, dollars in direct.items():
    print(f"{name:<22}{dollars:>12.2f}{ordered[name]:>12.2f}")
print(f"{'sum':<22}{sum(direct.values()):>12.2f}{sum(ordered.values()):>12.2f}")
print(f"one reconciliation of a million objects: {reconciled:.3f}")
