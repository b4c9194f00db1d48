#!/usr/bin/env bash
# Replays what failed for one reason, once its cause is mended: replay_reason.sh REASON [OPTION...]
set -euo pipefail
reason=$1
shift

claim-check dlq list "$@"

# What is not readable any more stays, with its reason; it is worth knowing before.
claim-check dlq check --reason "$reason" "$@" || echo "Some payloads cannot be read; these messages stay." >&2

# Without --go it says what it would do, how much that is, and how long it takes. 1: some of it stays.
claim-check dlq redrive --reason "$reason" --rate 20 --max-bytes-per-second 32MiB "$@" || [ $? -eq 1 ]

# One message ahead, then the rest. The same call goes on where a stopped one left off.
claim-check dlq redrive --reason "$reason" --rate 20 --max-bytes-per-second 32MiB --go "$@"
