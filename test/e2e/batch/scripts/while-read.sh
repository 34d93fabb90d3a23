#!/bin/sh
# The program inherits the standard input of the loop and must not read it.
set -eu
printf '%s\n' loop-1 loop-2 loop-3 loop-4 >names.txt
while read -r name; do
  cloudctl droplets create "$name" --size s-1vcpu-1gb --image ubuntu-24-04-x64 -o ndjson
done <names.txt
