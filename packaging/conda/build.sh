#!/usr/bin/env bash
# What conda-build runs for meta.yaml, in the sources.
set -euo pipefail
# shellcheck disable=SC2086 # CMAKE_ARGS are several words of conda's compilers
cmake -S . -B build-conda -G Ninja ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib \
  -DCOLLBENCH_VERSION="$PKG_VERSION" -DCOLLBENCH_TESTS=OFF -DCOLLBENCH_BENCHMARKS=OFF -DCOLLBENCH_SMPI=OFF -DCOLLBENCH_KERNELS=OFF
cmake --build build-conda --parallel "${CPU_COUNT:-2}"
cmake --install build-conda
