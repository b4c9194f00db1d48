#!/usr/bin/env bash
# Uploads a file straight to S3 and publishes it: upload_file.sh API_URL FILE CONTENT_TYPE TENANT MESSAGE_ID
# Needs curl 7.75 or newer, jq, and credentials in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION.
set -euo pipefail
api=$1 file=$2 content_type=$3 tenant=$4 message_id=$5

declaration=$(jq -n --arg tenantId "$tenant" --arg eventType DocumentUploaded --arg messageId "$message_id" \
  --arg sha256 "$(sha256sum "$file" | cut -d' ' -f1)" --argjson contentLength "$(wc -c <"$file")" \
  --arg contentType "$content_type" '$ARGS.named')

call() {
  curl --silent --show-error --fail-with-body --json "$declaration" \
    --aws-sigv4 "aws:amz:$AWS_REGION:execute-api" --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \
    ${AWS_SESSION_TOKEN:+--header "x-amz-security-token: $AWS_SESSION_TOKEN"} "$api/$1"
}

upload=$(call uploads | jq .upload)
headers=()
while IFS= read -r line; do headers+=(--header "$line"); done < <(
  jq -r '.headers | to_entries[] | "\(.key): \(.value)"' <<<"$upload"
)
status=$(curl --silent --show-error --output /dev/null --write-out '%{http_code}' --upload-file "$file" \
  "${headers[@]}" "$(jq -r .url <<<"$upload")")
# 412: an earlier attempt has uploaded it already.
[[ $status == 200 || $status == 412 ]] || { echo "the upload was answered with $status" >&2; exit 1; }
call events
