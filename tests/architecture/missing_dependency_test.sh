#!/usr/bin/env bash
# A configure without two of the libraries names both, with the packages that bring them, in one message.
# usage: missing_dependency_test.sh SOURCE_FOLDER
set -euo pipefail
source=$1
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

if output=$(cmake -S "$source" -B "$build" -DCMAKE_DISABLE_FIND_PACKAGE_spdlog=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_pugixml=ON 2>&1); then
  echo "configured without spdlog and pugixml" >&2
  exit 1
fi
for package in libspdlog-dev libpugixml-dev; do
  grep --fixed-strings "apt-get install $package" <<<"$output" || { echo "$output"; exit 1; }
done
# The sources of what is there are not blamed.
if grep --fixed-strings "libeigen3-dev" <<<"$output"; then exit 1; fi
