#!/usr/bin/env bash
# Sends every file of a folder once, however often it is run: send_folder.sh FOLDER TENANT TYPE [OPTION...]
set -euo pipefail
folder=$1 tenant=$2 type=$3
shift 3

failed=0
for file in "$folder"/*; do
  id=$(sha256sum < "$file" | cut -c1-32) # the same content is the same event, and no file name is in it
  claim-check send "$file" --tenant "$tenant" --type "$type" --id "$id" "$@" || {
    code=$?
    [ "$code" -eq 1 ] || exit "$code" # the call is wrong, or it was interrupted: the other files would fare no better
    failed=$((failed + 1))
  }
done

if [ "$failed" -gt 0 ]; then
  echo "$failed files were not sent; run it again." >&2
  exit 1
fi
