#!/usr/bin/env bash
# Which version sources have: of a tag, after one, changed, in a shallow clone, in an archive, in neither; and that a commit
# compiles one file.
# usage: version_test.sh SOURCE_FOLDER NINJA
set -euo pipefail
sources=$(realpath "$1") ninja=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export GIT_CONFIG_GLOBAL=$folder/gitconfig GIT_CONFIG_SYSTEM=/dev/null GIT_CEILING_DIRECTORIES=$folder
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
git config --global user.name test
git config --global user.email test@localhost
git config --global init.defaultBranch main

fail() {
  echo "version_test: $*" >&2
  exit 1
}
commit() { git -C "$repository" commit --quiet --allow-empty --message "$1"; }
hash() { git -C "$repository" rev-parse --short=10 HEAD; }
# expect FOLDER VERSION: what the script writes for the sources of a folder.
expect() {
  local results=$folder/results version
  rm -rf "$results"
  cmake -DSOURCES="$1" -DRESULTS="$results" -DGIVEN= -P "$sources/cmake/WriteVersion.cmake"
  version=$(<"$results/VERSION")
  [[ $version == "$2" ]] || fail "$1: '$version' instead of '$2'"
  grep --quiet --fixed-strings "return \"$2\";" "$results/version_number.cpp" || fail "$1: the source says another version"
}
archive() {
  rm -rf "$folder/unpacked" && mkdir "$folder/unpacked"
  git -C "$repository" archive HEAD | tar --extract --directory "$folder/unpacked"
}

cd "$folder"
repository=$folder/repository
mkdir -p "$repository/src/cli" "$repository/cmake"
cp "$sources/VERSION" "$sources/.gitattributes" "$repository/"
base=$(head -1 "$sources/VERSION")
cp "$sources"/cmake/{Version,WriteVersion}.cmake "$repository/cmake/"
cp "$sources/src/cli/version_number.hpp" "$repository/src/cli/"
expect "$repository" "$base-dev"

git init --quiet "$repository"
git -C "$repository" add .
commit first
expect "$repository" "$base-dev.g$(hash)"
archive
expect "$folder/unpacked" "$base-dev.g$(hash)"

git -C "$repository" tag v1.2.3
git -C "$repository" tag unrelated
expect "$repository" 1.2.3
archive
expect "$folder/unpacked" 1.2.3
echo >>"$repository/src/cli/version_number.hpp"
expect "$repository" 1.2.3+dirty
git -C "$repository" commit --quiet --all --message second
expect "$repository" "1.2.3+1.g$(hash)"
archive
expect "$folder/unpacked" "1.2.3+1.g$(hash)"
# An archive inside of somebody's repository is not theirs.
git init --quiet "$folder/unpacked/.." 2>/dev/null
expect "$folder/unpacked" "1.2.3+1.g$(hash)"
rm -rf "$folder/.git"

git clone --quiet --depth 1 "file://$repository" "$folder/shallow"
expect "$folder/shallow" "$base-dev.g$(hash)"

if cmake -DSOURCES="$repository" -DRESULTS="$folder/results" -DGIVEN='1.2"' -P "$sources/cmake/WriteVersion.cmake" 2>"$folder/words"; then
  fail "COLLBENCH_VERSION='1.2\"' was accepted"
fi
tr -s ' \n' ' ' <"$folder/words" | grep --quiet "is '1.2\"', which is no semantic version" || fail "$(<"$folder/words")"

# A build: a commit compiles the version alone, and nothing where nothing changed.
cat >"$repository/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(versioned LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
include(cmake/Version.cmake)
add_executable(versioned main.cpp "${COLLBENCH_VERSION_FOLDER}/version_number.cpp")
target_include_directories(versioned PRIVATE "${CMAKE_SOURCE_DIR}")
add_dependencies(versioned version)
END
cat >"$repository/main.cpp" <<'END'
#include <iostream>
#include "src/cli/version_number.hpp"
int main() { std::cout << collbench::program::version_number() << "\n"; }
END
git -C "$repository" add .
commit third
build=$folder/build
cmake -G Ninja -DCMAKE_MAKE_PROGRAM="$ninja" -S "$repository" -B "$build" >"$folder/log"
# built OBJECTS...: what a build compiles.
built() {
  "$ninja" -C "$build" -v >"$folder/log" || fail "$(<"$folder/log")"
  local objects
  objects=$({ grep -oE -- '-o [^ ]+\.o' "$folder/log" || true; } | sed 's|.*/||; s|\.cpp\.o||' | sort | tr '\n' ' ')
  [[ $objects == "$*" ]] || fail "compiled '$objects' instead of '$*'"
  [[ $("$build/versioned") == "1.2.3+$(git -C "$repository" rev-list --count v1.2.3..).g$(hash)" ]] || fail "the program says $("$build/versioned")"
}
built "main version_number "
built ""
commit fourth
built "version_number "
if grep --quiet 'CMAKE_SOURCE_DIR\|--regenerate-during-build' "$folder/log"; then fail "a commit configures"; fi
