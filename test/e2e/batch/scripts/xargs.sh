#!/bin/sh
# Eight programs at once write to one file.
set -eu
seq -f 'job-%02g' 1 16 | xargs -P 8 -I '{}' \
  cloudctl droplets create '{}' --size s-1vcpu-1gb --image ubuntu-24-04-x64 -o ndjson
