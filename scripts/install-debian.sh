#!/bin/sh
# Installs Debian packages for the tests, as root: `install-debian.sh PACKAGE...`. No service of theirs is started, and a
# package that only the backports of this release have is taken from there, from the mirror the machine already uses.
set -eu
export DEBIAN_FRONTEND=noninteractive

policy=/usr/sbin/policy-rc.d
list=/etc/apt/sources.list.d/cloudctl-tests-backports.list
made=
clean() {
  [ -z "$made" ] || rm -f "$policy"
  rm -f "$list"
}
trap clean EXIT
if [ ! -e "$policy" ]; then
  made=yes
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi

known() {
  apt-cache policy "$1" | grep -q 'Candidate: [^(]'
}

apt-get update -qq
later=
now=
for package in "$@"; do
  if known "$package"; then now="$now $package"; else later="$later $package"; fi
done
# shellcheck disable=SC2086
[ -z "$now" ] || apt-get install -y -qq --no-install-recommends $now
if [ -n "$later" ]; then
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' | awk -v release="$codename" '$1 == release { print $2; exit }')
  echo "deb $mirror $codename-backports main" >"$list"
  apt-get update -qq
  # shellcheck disable=SC2086
  apt-get install -y -qq --no-install-recommends -t "$codename-backports" $later
fi
