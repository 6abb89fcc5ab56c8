#!/usr/bin/env bash
# No ELF file looks for libraries in the current folder: no part of its RPATH or RUNPATH is empty (which the loader takes for
# the current folder) or relative, but for $ORIGIN.
# usage: library_paths_test.sh FOLDER...      every ELF file below the folders
#        library_paths_test.sh --self COMPILER   it sees each kind of break
set -euo pipefail

check() {
  command -v readelf >/dev/null || { echo "readelf is missing: apt-get install binutils" >&2; return 1; }
  local part='(/[^:]*|\$ORIGIN(/[^:]*)?)' file line path files=0 bad=0
  while IFS= read -r -d '' file; do
    [[ $(head --bytes 4 "$file" | tr -d '\0') == $'\x7fELF' ]] || continue
    files=$((files + 1))
    while IFS= read -r line; do
      path=${line#*[} path=${path%]}
      [[ $path =~ ^$part(:$part)*$ ]] && continue
      echo "$file: its RPATH or RUNPATH '$path' has an empty or relative part, which is the current folder of whoever runs it" >&2
      bad=1
    done < <(readelf --dynamic --wide "$file" 2>/dev/null | grep -E '\((RPATH|RUNPATH)\)' || true)
  done < <(find "$@" -type f ! -name '*.o' ! -name '*.a' -size +0 -print0)
  ((files > 0)) || { echo "no ELF file in $*" >&2; return 1; }
  ((bad == 0)) || return 1
  echo "$files ELF files: none looks for libraries in the current folder"
}

if [[ ${1:-} != --self ]]; then
  check "$@"
  exit
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for tags in --enable-new-dtags --disable-new-dtags; do
  for path in /usr/lib '$ORIGIN' '$ORIGIN/../lib' '/usr/lib:$ORIGIN'; do
    "$2" -shared -o "$folder/library" -x c++ /dev/null "-Wl,$tags" "-Wl,-rpath,$path"
    check "$folder" >"$folder/said" || { echo "'$path' is refused" >&2; exit 1; }
  done
  for path in : /usr/lib: :/usr/lib /usr/lib::/lib . lib ./lib ../lib /usr/lib:lib '$HOME/lib' '$ORIGINAL' ; do
    "$2" -shared -o "$folder/library" -x c++ /dev/null "-Wl,$tags" "-Wl,-rpath,$path"
    if check "$folder" 2>"$folder/said"; then echo "'$path' is not seen" >&2; exit 1; fi
    grep --quiet --fixed-strings "'$path'" "$folder/said"
  done
done
mkdir "$folder/empty"
if check "$folder/empty" 2>"$folder/said"; then echo "a folder without ELF files passes" >&2; exit 1; fi
if PATH=/none check "$folder" 2>"$folder/said"; then echo "without readelf all passes" >&2; exit 1; fi
grep --quiet readelf "$folder/said"
