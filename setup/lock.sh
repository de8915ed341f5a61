#!/usr/bin/env bash
# Write the lock files again, after a change of a requirements*.in or package.json of this folder, or of one of the
# peers' in bench/peers/requirements. Needs uv and npm.
#   setup/lock.sh             keep the versions that still fit
#   setup/lock.sh --upgrade   take the newest Python packages
set -euo pipefail
cd "$(dirname "$0")"

peers=../bench/peers/requirements
for source in requirements.in requirements-dev.in requirements-node.in real-model/requirements.in "$peers"/*.in; do
  uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 "$@" "$source" -o "${source%.in}.txt"
done
for folder in . promptfoo; do
  npm install --prefix "$folder" --package-lock-only --ignore-scripts --no-audit --no-fund --omit-lockfile-registry-resolved
done

# A lock file is read on machines whose registry is another one.
if grep -nE '"resolved"|^--?(index|extra-index|find-links)' ./*.txt real-model/*.txt "$peers"/*.txt package-lock.json promptfoo/package-lock.json; then
  echo "A lock file names an address (see above); take it out." >&2
  exit 1
fi
