#!/usr/bin/env bash
# Installs into an empty folder and runs the program from there: nothing of the build folder is needed.
# usage: install_test.sh BUILD_FOLDER FILE_WITH_THE_VERSION
set -euo pipefail
build=$1 version=$(<"$2")
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

cmake --install "$build" --prefix "$prefix" >"$prefix/install.log"
program=$prefix/bin/collbench

cd /
output=$(env --unset=LD_LIBRARY_PATH "$program" --version)
echo "$output"
[[ $output == "collbench $version"$'\n'* ]] || { echo "--version does not say $version" >&2; exit 1; }
[[ $output == *"NCCL observer: $prefix/lib/"* ]] || { echo "the observer is not beside the program" >&2; exit 1; }
for file in man/man1/collbench-topo-diff.1 bash-completion/completions/collbench zsh/site-functions/_collbench \
  fish/vendor_completions.d/collbench.fish doc/collbench/copyright; do
  [[ -s $prefix/share/$file ]] || { echo "share/$file is missing" >&2; exit 1; }
done
if readelf --dynamic --wide "$prefix"/bin/* "$prefix"/lib/*.so "$prefix"/lib/*/*.so* | grep -E 'R(UN)?PATH.*'"$build"; then
  echo "what is installed looks for libraries in the build folder" >&2
  exit 1
fi
for tool in "$prefix"/bin/collbench-*; do
  name=${tool##*/collbench-}
  [[ $("$program" "$name" --help) == *"Usage: collbench $name"* ]] || { echo "collbench $name does not start" >&2; exit 1; }
done
# Another libcollbench in LD_LIBRARY_PATH, such as another version's, does not come first.
mkdir "$prefix/other" && echo "no library" >"$prefix/other/libcollbench.so"
LD_LIBRARY_PATH=$prefix/other "$program" --version >/dev/null
"${BASH_SOURCE%/*}/library_paths_test.sh" "$prefix"
