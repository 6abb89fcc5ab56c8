# Says which version these sources are, in a C++ source and in a file for packages; leaves them as they are where nothing changed.
# A script: cmake -DSOURCES=FOLDER -DRESULTS=FOLDER [-DGIVEN=VERSION] -P WriteVersion.cmake
#
# The first that is known:
#   GIVEN                                              as it is
#   git describe of the sources' repository: v0.2.0    0.2.0
#     five commits after it                            0.2.0+5.gCOMMIT
#     no tag, as in a shallow clone                    0.1.0-dev.gCOMMIT, with 0.1.0 of the file VERSION
#     changed since the commit                         0.2.0+dirty, 0.2.0+5.gCOMMIT.dirty, 0.1.0-dev.gCOMMIT.dirty
#   what git archive wrote into the file VERSION       likewise
#   the file VERSION                                   0.1.0-dev
# These are semantic versions (semver.org), and dpkg orders them the same way with ~ for the hyphen.
cmake_minimum_required(VERSION 3.25)

# 0.2.0 or 0.2.0+5.gCOMMIT of v0.2.0 or v0.2.0-5-gCOMMIT; empty of anything else.
function(version_of_description description result)
  set(version "")
  if(description MATCHES "^v([0-9]+\\.[0-9]+\\.[0-9]+[-.0-9A-Za-z]*)-([0-9]+)-(g[0-9a-f]+)$")
    set(version "${CMAKE_MATCH_1}+${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
  elseif(description MATCHES "^v([0-9]+\\.[0-9]+\\.[0-9]+[-.0-9A-Za-z]*)$")
    set(version "${CMAKE_MATCH_1}")
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# What git says in the sources; empty where it says nothing. Reads only: another git of the user's may be at work.
function(git_says result)
  set(said "")
  if(GIT)
    execute_process(COMMAND "${GIT}" --no-optional-locks -C "${SOURCES}" ${ARGN} OUTPUT_VARIABLE said ERROR_QUIET
      OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      set(said "")
    endif()
  endif()
  set(${result} "${said}" PARENT_SCOPE)
endfunction()

function(version_of_sources result)
  file(STRINGS "${SOURCES}/VERSION" lines)
  list(GET lines 0 base)
  set(commit "")
  set(described "")
  set(dirty "")
  # Its own repository, not one that it was unpacked into.
  find_program(GIT git)
  if(EXISTS "${SOURCES}/.git")
    git_says(commit rev-parse --short=10 HEAD)
  endif()
  if(commit)
    git_says(description describe --tags --match "v[0-9]*" --abbrev=10)
    version_of_description("${description}" described)
    git_says(changes status --porcelain --untracked-files=no)
    if(changes)
      set(dirty dirty)
    endif()
  elseif(lines MATCHES ";([0-9a-f][0-9a-f]+) ?([^;]*)$")  # an archive's
    version_of_description("${CMAKE_MATCH_2}" described)
    string(SUBSTRING "${CMAKE_MATCH_1}" 0 10 commit)
  endif()
  if(described AND dirty)
    string(FIND "${described}" "+" plus)
    if(plus EQUAL -1)
      string(APPEND described "+${dirty}")
    else()
      string(APPEND described ".${dirty}")
    endif()
  elseif(NOT described)
    set(described "${base}-dev")
    if(commit)
      string(APPEND described ".g${commit}")
    endif()
    if(dirty)
      string(APPEND described ".${dirty}")
    endif()
  endif()
  set(${result} "${described}" PARENT_SCOPE)
endfunction()

set(version "${GIVEN}")
if(NOT version)
  version_of_sources(version)
endif()
if(NOT version MATCHES "^[0-9]+\\.[0-9]+\\.[0-9]+[-+.0-9A-Za-z]*$")
  message(FATAL_ERROR "COLLBENCH_VERSION is '${version}', which is no semantic version such as 1.2.3")
endif()
file(CONFIGURE OUTPUT "${RESULTS}/VERSION" CONTENT "${version}\n" @ONLY)
file(CONFIGURE OUTPUT "${RESULTS}/version_number.cpp" CONTENT [[
#include "src/cli/version_number.hpp"

namespace collbench::program {

std::string_view version_number() { return "@version@"; }

}  // namespace collbench::program
]] @ONLY)
