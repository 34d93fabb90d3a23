#!/bin/sh
# A line of a crontab: nearly no environment, no terminal, no HOME, standard input closed.
set -eu
cd "$(dirname "$0")"
CLOUDCTL_CONFIG_DIR=$PWD/../config CLOUDCTL_STATE_DIR=$PWD/../state
export CLOUDCTL_CONFIG_DIR CLOUDCTL_STATE_DIR
"$PWD/bin/cloudctl" droplets create 'nightly-{1..4}' --size s-1vcpu-1gb --image ubuntu-24-04-x64 \
  --if-exists skip -o ndjson
