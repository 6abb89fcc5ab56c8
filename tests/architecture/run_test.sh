#!/usr/bin/env bash
# scripts/run against stand-ins for mpirun, nproc, lscpu and id: how many ranks, which options, which status.
# usage: run_test.sh SOURCE_FOLDER
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
bin=$folder/bin
mkdir "$bin" "$folder/scripts"
cp "$1/scripts/run" "$folder/scripts/"

stand_in() {
  printf '#!/bin/bash\n%s\n' "$2" >"$1"
  chmod +x "$1"
}
stand_in "$folder/scripts/setup" '[[ $* == build ]]'
stand_in "$folder/scripts/build" '[[ $* == "release collbench tools" ]]'
# shellcheck disable=SC2016 # it is the stand-ins that expand these
{
  stand_in "$bin/mpirun" 'printf "<%s>" "$@"; echo; exit "${MPIRUN_STATUS:-0}"'
  stand_in "$bin/nproc" 'echo "$ALLOWED"'
  stand_in "$bin/id" 'echo "${FAKE_UID:-1000}"'
  # Two hardware threads per core, on one socket.
  stand_in "$bin/lscpu" 'echo "# comment"; for ((i = 0; i < 2 * CORES; i++)); do echo "$((i / 2)),0"; done'
}

# expect OUTPUT [VARIABLE=VALUE...] -- [ARGUMENT...]
expect() {
  local wanted=$1 output
  shift
  local variables=()
  while [[ $1 != -- ]]; do
    variables+=("$1")
    shift
  done
  shift
  output=$(env PATH="$bin:$PATH" "${variables[@]}" "$folder/scripts/run" "$@" | tail -n 1)
  if [[ $output != "${wanted//PROGRAM/$folder/build/release/src/collbench}" ]]; then
    echo "run_test: with ${variables[*]}: $output instead of $wanted" >&2
    exit 1
  fi
}

expect '<-np><4><PROGRAM>' CORES=4 ALLOWED=8 --
expect '<-np><4><PROGRAM><--sizes><1 MB>' CORES=4 ALLOWED=8 -- --sizes '1 MB'
expect '<-np><3><PROGRAM>' CORES=4 ALLOWED=3 --
expect '<-np><16><PROGRAM>' CORES=64 ALLOWED=128 --
expect '<--oversubscribe><--mca><mpi_yield_when_idle><1><-np><2><PROGRAM>' CORES=1 ALLOWED=2 --
expect '<--allow-run-as-root><-np><2><PROGRAM>' CORES=2 ALLOWED=2 FAKE_UID=0 --
expect '<-np><3><PROGRAM>' CORES=4 ALLOWED=4 COLLBENCH_RANKS=3 --

status=0
env PATH="$bin:$PATH" CORES=2 ALLOWED=2 MPIRUN_STATUS=3 "$folder/scripts/run" >"$folder/output" || status=$?
((status == 3)) || { echo "run_test: status $status instead of mpirun's 3" >&2; exit 1; }
echo "run_test: all as it should be"
