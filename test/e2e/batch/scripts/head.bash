#!/usr/bin/env bash
# A reader that ends early: the batch stops, and a resume creates the rest.
set -u
cloudctl droplets create 'head-{0001..1500}' --size s-1vcpu-1gb --image ubuntu-24-04-x64 --batch-size 1 --concurrency 1 \
  -o ndjson 2>messages.txt | head -n 1
code=${PIPESTATUS[0]}
ledger=$(sed -n 's/^ledger: //p' messages.txt)
cloudctl droplets create --resume "$ledger" -o ndjson >rows.ndjson 2>resumed.txt || exit
printf '{"code":%s}\n' "$code"
cat rows.ndjson
