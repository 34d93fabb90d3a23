#!/usr/bin/env bash
# A step of a CI job: CI=true, a token of the environment, the ids are written to the file of step outputs.
set -eo pipefail
export CI=true
GITHUB_OUTPUT=$PWD/outputs.txt
ids=$(cloudctl droplets create "run-$RUN_ID-{a,b,c}" --size s-1vcpu-1gb --image ubuntu-24-04-x64 \
  -o json --query "[?status=='created'].id" | jq -c .)
echo "ids=$ids" >>"$GITHUB_OUTPUT"
jq -c -n --argjson ids "$ids" '$ids[] | {id: .}'
