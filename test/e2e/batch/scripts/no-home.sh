#!/bin/sh
# A container with an unknown user: no home folder, a token of the environment, a folder for the ledgers.
set -eu
CLOUDCTL_STATE_DIR=$(mktemp -d)
export CLOUDCTL_STATE_DIR
trap 'rm -rf "$CLOUDCTL_STATE_DIR"' EXIT
cloudctl droplets create c-1 c-2 --size s-1vcpu-1gb --image ubuntu-24-04-x64 -o json --query '[].{name: name, id: id}' |
  jq -c '.[]'
