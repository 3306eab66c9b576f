#!/usr/bin/env bash
# Writes docs/images: the pages of the made-up town of "gazehound demo", as they are. It needs Go, Chromium
# and, for small files, pngquant; no network. usage: .ci/pictures.sh
set -euo pipefail
cd "$(dirname "$0")/.."
images=$PWD/docs/images
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  { echo "no Chromium on this machine (Debian: apt-get install chromium)"; exit 1; }
CGO_ENABLED=0 go build -trimpath -o "$work/gazehound" ./cmd/gazehound
cd "$work"
./gazehound demo --data demo
./gazehound serve --data demo --listen 127.0.0.1:0 2> address &
server=$!
for _ in $(seq 50); do grep -q http address && break; sleep 0.2; done
grep -q http address || { cat address; exit 1; }
site=$(sed -n 's/.*\(http[^ ]*\/\).*/\1/p' address)

# picture NAME WIDTH HEIGHT PATH
picture() {
  timeout 90 "$chromium" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
    --user-data-dir="$work/profile-$1" --virtual-time-budget=8000 --window-size="$2,$3" \
    --screenshot="$work/picture.png" "$site$4" 2> chromium.log && [ -s "$work/picture.png" ] ||
    { cat chromium.log; exit 1; }
  if command -v pngquant > chromium.log; then pngquant --force --ext .png 48 "$work/picture.png"; fi
  mv "$work/picture.png" "$images/$1.png"
}
picture search 1280 860 '?q=b%C3%A4ckerei&lang=en'
picture newest 1280 860 '?sort=newest&lang=en'
picture differences 1280 860 'differences?lang=en'
ls -l "$images"
