#!/bin/sh
# Makes the figures and tables of docs/papers.md and docs/measurements.md again, one file for each
# command in the folder OUT; with --plot folders of curves. IRVINE is the trace of the recorded web that
# docs/papers.md makes, IRVINE_WEB the folder of its pages; empty: their tables are left out. It takes half
# an hour: ONLY=name runs one alone.
set -eu
out=${OUT:-figures}
program=${GAZEHOUND:-bin/gazehound}
mkdir -p "$out"

figure() {
  name=$1
  shift
  if [ -n "${ONLY:-}" ] && [ "$ONLY" != "$name" ]; then return; fi
  echo "$name: gazehound simulate $*"
  "$program" simulate "$@" > "$out/$name.txt"
}

if [ -n "${IRVINE:-}" ]; then
  figure irvine orders --trace "$IRVINE" --strategy breadth-first,link-distance,adaptive,lookahead,tag-path-bandit,oracle-next \
    --pages 2500 --at 500,1000 --runs 5 --seed 101
  figure irvine-bandit orders --trace "$IRVINE" --strategy tag-path-bandit --exploration 0.3 --pages 2500 --at 500,1000 --runs 5 --seed 101
  figure irvine-no-news orders --trace "$IRVINE" --strategy lookahead --news=false --pages 2500 --at 500,1000 --runs 5 --seed 101
  figure irvine-laplace orders --trace "$IRVINE" --strategy adaptive --laplace link --prior share --pages 2500 --at 1000 --runs 3
  figure irvine-bridges orders --trace "$IRVINE" --strategy link-distance,adaptive,lookahead --pages 2500 --runs 3
  for lambda in 4 16; do
    figure "irvine-nuggets-$lambda" nuggets --trace "$IRVINE" --strategy lookahead --pages 2500 --order-lambda "$lambda"
  done
fi
if [ -n "${IRVINE_WEB:-}" ]; then
  sed -n '/^- topic: computer science/,/^END/p' docs/papers.md | grep -v '^END' > "$out/topics.yaml"
  figure irvine-topic orders --warc "$IRVINE_WEB" --seeds "$IRVINE_WEB/seeds-far.txt" --judge topic --topics "$out/topics.yaml" \
    --topic theory --topic-share 0.15 --merged-seeds --strategy trend,lookahead,link-distance,breadth-first --importance published \
    --alpha 1 --beta 0 --emphasis 1 --okapi-collection crawled --pages 1000 --runs 3
  figure irvine-agents orders --warc "$IRVINE_WEB" --seeds "$IRVINE_WEB/seeds-near.txt" --judge topic --topics "$out/topics.yaml" \
    --topic theory --topic-share 0.15 --merged-seeds --strategy trend --importance published --alpha 1 --beta 0 --emphasis 1 \
    --okapi-collection crawled --pages 1000 --runs 10 --agents 4 --partition url-hash --latency 1s
fi
figure ahlers-harvest orders --demo sites=1300 --pages 10000 --strategy breadth-first,link-distance,adaptive,lookahead,oracle-next
figure ahlers-laplace orders --demo sites=1300 --pages 10000 --strategy adaptive --laplace link --prior share
figure ahlers-untrained orders --demo sites=1300 --pages 10000 --runs 10 --at 250,1000,5000 --strategy link-distance,adaptive
figure ahlers-trained orders --demo sites=1300 --pages 10000 --runs 5 --at 250,1000,5000 --strategy adaptive \
  --train-demo sites=1300,seed=99 --train-pages 30000
figure ahlers-trained-printed orders --demo sites=1300 --pages 10000 --runs 3 --at 250,1000,5000 --strategy adaptive \
  --train-demo sites=1300,seed=99 --train-pages 30000 --laplace link --prior share
for depths in 1 2 3 4; do
  figure "ahlers-depths-$depths" orders --demo sites=1300 --pages 10000 --runs 10 --strategy adaptive --depths "$depths"
done
figure somboonviwat-thai orders --demo sites=1300,finite=1,language=th --judge language --language th --pages 0 --at 20000 --runs 1 \
  --strategy hard-focused,soft-focused,breadth-first,limited-distance --plot "$out/somboonviwat-thai"
figure somboonviwat-first-in orders --demo sites=1300,finite=1,language=th --judge language --language th --pages 0 --at 20000 --runs 1 \
  --strategy hard-focused,soft-focused,breadth-first,limited-distance-1,limited-distance-4,limited-distance-1-prioritised,limited-distance-4-prioritised --ties first-in
for log in limited-distance-2 limited-distance-2-prioritised; do
  trace="$out/somboonviwat-$log.trace"
  case ${ONLY:-} in '' | "somboonviwat-$log")
    "$program" simulate trace --demo sites=120,finite=1,language=th --judge language --language th --pages 0 \
      --strategy "$log" --ties first-in -o "$trace"
  esac
  figure "somboonviwat-$log" orders --trace "$trace" --pages 0 --at 2000 --runs 1 --ties first-in \
    --strategy hard-focused,soft-focused,breadth-first
done
figure somboonviwat-japanese orders --demo sites=1300,finite=1,language=ja,foreign=0.792 --judge language --language ja --pages 0 \
  --at 20000 --runs 1 --strategy hard-focused,soft-focused,breadth-first --plot "$out/somboonviwat-japanese"
figure gao nodes --pages 20000 --partition url-hash,url,extended-anchor,full-content,classification,page-ip
for world in 1 2 3 4 5 6 7 8 9 10 11 12; do
  figure "gao-world-$world" nodes --web "sites=40000,world=$world" --pages 15000 \
    --partition url-hash,url,extended-anchor,full-content,classification,page-ip
done
for world in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  figure "gao-free-$world" nodes --web "sites=12000,world=$world,free=1" --pages 5000 \
    --partition url-hash,url,extended-anchor,full-content,classification,page-ip
done
for emphasis in 1 3 10; do
  figure "ahmadi-readers-$emphasis" orders --demo sites=100 --webs 5 --pages 2000 --runs 1 --readers logs=1 --emphasis "$emphasis" \
    --strategy breadth-first,adaptive,lookahead,trend
done
figure ahmadi-readers-change orders --demo sites=100 --webs 5 --pages 2000 --runs 1 --readers logs=1,taste=0.5 --emphasis 3 --strategy trend
figure ahmadi-agents orders --demo sites=1300 --strategy lookahead,oracle-next --pages 2500 --runs 10 --agents 4 --latency 1s
figure ahmadi-agents-fine orders --demo sites=1300 --strategy lookahead --pages 2500 --runs 10 --agents 4 --latency 1s \
  --turns nuggets,turns --order-urls 8 --order-parts 8
figure ahmadi-agents-finest orders --demo sites=1300 --strategy oracle-next --pages 2500 --runs 10 --agents 4 --latency 1s \
  --turns nuggets --order-urls 1 --order-parts 1
figure ahmadi-agents-every orders --demo sites=1300 --strategy lookahead --pages 2500 --runs 10 --agents 4 --latency 1s \
  --turns nuggets,turns --order-every 20s
figure ahmadi-nuggets nuggets --plot "$out/ahmadi-nuggets"
