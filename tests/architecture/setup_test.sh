#!/usr/bin/env bash
# scripts/setup against stand-ins for dpkg-query, apt-get, id and sudo, which write down how they were called.
# usage: setup_test.sh SOURCE_FOLDER
set -euo pipefail
setup=$1/scripts/setup
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
calls=$folder/calls
bin=$folder/bin
mkdir "$bin"

stand_in() {
  printf '#!/bin/bash\n%s\n' "$2" >"$bin/$1"
  chmod +x "$bin/$1"
}
# shellcheck disable=SC2016 # it is the stand-ins that expand these
{
  # Everything is installed but the packages named in $LACKING, and those removed but for their settings.
  stand_in dpkg-query 'for name in "${@:4}"; do
    case " $LACKING " in *" $name "*) ;; *" $name:settings "*) echo "config-files $name" ;; *) echo "installed $name" ;; esac
  done'
  stand_in apt-get "echo \"apt-get \$*\" >>$calls; echo 'E: no network'; exit \${APT_STATUS:-0}"
  stand_in sudo "echo \"sudo\" >>$calls; \"\$@\""
  stand_in id 'echo "${FAKE_UID:-0}"'
}
mkdir -p "$folder"/cache/collbench/{axe,mpich,prometheus} # what is fetched beside the packages is there
for tool in bash env mktemp rm cat grep; do ln -s "$(command -v "$tool")" "$bin/$tool"; done

fail() {
  echo "setup_test: $1" >&2
  cat "$folder/output" "$calls" >&2
  exit 1
}
# run EXPECTED_STATUS [VARIABLE=VALUE...] [GROUP...]
run() {
  local expected=$1 status=0
  shift
  local variables=()
  while [[ ${1:-} == *=* ]]; do
    variables+=("$1")
    shift
  done
  : >"$calls"
  env --ignore-environment PATH="$bin" XDG_CACHE_HOME="$folder/cache" LACKING= "${variables[@]}" "$setup" "$@" >"$folder/output" 2>&1 || status=$?
  ((status == expected)) || fail "status $status instead of $expected"
}
said() { grep --quiet --fixed-strings -- "$1" "$folder/output" || fail "did not say: $1"; }
called() { [[ $(<"$calls") == "$1" ]] || fail "calls are not: $1"; }

run 0 # nothing is missing: silent, and apt-get is not asked
called ""
[[ ! -s $folder/output ]] || fail "spoke without need"

run 0 FAKE_UID=1000 # the same for a user without rights
called ""

run 0 LACKING="ninja-build libfmt-dev:settings" build
said "installing ninja-build libfmt-dev"
called "apt-get --quiet update
apt-get --quiet install --yes --no-install-recommends ninja-build libfmt-dev"

run 0 LACKING="clang-tidy-19" build test # of the groups asked for only
called ""

run 0 LACKING="ninja-build" FAKE_UID=1000 build
called "sudo
apt-get --quiet update
sudo
apt-get --quiet install --yes --no-install-recommends ninja-build"

run 1 LACKING="ninja-build cmake" APT_STATUS=100 build
said "E: no network"
said "apt-get update failed (its words are above); still missing: cmake ninja-build"

# NCCL's libraries: a folder each, which is there only when pip has succeeded.
# shellcheck disable=SC2016
stand_in python3 'echo "python3 ${*: -1}" >>'"$calls"'; for ((i = 1; i <= $#; ++i)); do
  [[ ${!i} != --target ]] || { i=$((i + 1)); mkdir "${!i}"; }
done; [[ -z $PIP_FAILS ]] || { echo "pip: no network"; exit 1; }'
for tool in mkdir mv; do ln -s "$(command -v "$tool")" "$bin/$tool"; done
run 1 PIP_FAILS=yes real-nccl
said "pip: no network"
said "pip did not install nvidia-nccl-cu12 2.18.3 (its words are above)"
[[ ! -e $folder/cache/collbench/nccl/2.18.3 ]] || fail "a version is there that was not installed"
run 0 real-nccl
grep --quiet "python3 nvidia-nccl-cu12==2.30.7" "$calls" || fail "pip was not asked"
[[ -d $folder/cache/collbench/nccl/2.18.3 ]] || fail "a version is not there"
run 0 real-nccl # all are there
called ""

run 1 nonsense
said "no group 'nonsense'"

rm "$bin/sudo"
run 1 LACKING="ninja-build" FAKE_UID=1000 build
said "install them as root: apt-get install ninja-build"

rm "$bin/dpkg-query"
run 0 build
said "not a Debian system"
echo "setup_test: all as it should be"
