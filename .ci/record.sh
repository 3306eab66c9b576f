#!/usr/bin/env bash
# Writes docs/newcomer.md: what a newcomer types and sees in a terminal of 80 columns. It needs Go and
# util-linux's script, and no network. usage: .ci/record.sh
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/docs/newcomer.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -trimpath -o "$work/bin/gazehound" ./cmd/gazehound
export PATH=$work/bin:$PATH TERM=xterm XDG_CONFIG_HOME=$work
unset CI
cd "$work"

# type COMMAND: the command, and what it shows
type() {
  printf '$ %s\n' "$1"
  script -qefc "stty cols 80 rows 40; $1" /dev/null </dev/null | tr -d '\r' | sed 's/^\^D\x08*//; s/[[:space:]]*$//'
}

{
  cat <<'EOF'
# The first ten minutes

What a newcomer types and sees in a terminal of 80 columns, recorded by `.ci/record.sh`: a made-up town
is crawled on this machine, its addresses are searched, explained, written to a file and served.

```console
EOF
  type 'gazehound demo'
  echo
  type 'gazehound search --data gazehound-demo "bäckerei" --limit 3'
  echo
  id=$(gazehound search --data gazehound-demo bäckerei --json | sed -n '1s/.*"id":"\([0-9a-f]\{16\}\)".*/\1/p')
  type "gazehound explain --data gazehound-demo $id"
  echo
  type 'gazehound export csv --data gazehound-demo -o addresses.csv'
  echo
  type 'gazehound status --data gazehound-demo'
  echo
  type 'timeout -s INT 3 gazehound serve --data gazehound-demo' || true # it is stopped
  cat <<'EOF'
```

Next: [a real city](../README.md#a-real-city).
EOF
} >"$work/newcomer.md"
mv "$work/newcomer.md" "$out"
