#!/usr/bin/env bash
# Where there is no nvcc, a configure succeeds, says that the GPU kernels are off, and makes a build without them.
# usage: without_cuda_test.sh SOURCE_FOLDER
set -euo pipefail
source=$1
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

# Nor what scripts/setup bundle brings into the cache.
XDG_CACHE_HOME=$build HOME=$build CUDACXX=/nonexistent/nvcc cmake -S "$source" -B "$build" -G Ninja -DCOLLBENCH_TESTS=OFF -DCOLLBENCH_SMPI=OFF -DCMAKE_UNITY_BUILD=OFF >"$build/said" 2>&1 ||
  { cat "$build/said"; exit 1; }
grep --fixed-strings "off: GPU kernels" "$build/said" || { cat "$build/said"; exit 1; }
targets=$(ninja -C "$build" -t targets all)
if grep --fixed-strings "collbench_kernels" <<<"$targets"; then exit 1; fi
grep --quiet --fixed-strings "nccl_backend.cpp" <<<"$targets" # the backend itself needs no CUDA
