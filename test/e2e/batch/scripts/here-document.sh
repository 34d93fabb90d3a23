#!/bin/sh
# A list of names as an editor on Windows stores it: each line ends with CR LF.
set -eu
cr=$(printf '\r')
cloudctl droplets create --names-from - --size s-1vcpu-1gb --image ubuntu-24-04-x64 -o ndjson <<END
win-1$cr
win-2$cr
win-{3..5}$cr
END
