# One static library per subsystem (a top-level folder). A subsystem with no source yet is an interface library.
function(collbench_compile_options target visibility)
  target_compile_options(${target} ${visibility} -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wnon-virtual-dtor -Woverloaded-virtual
    # GCC 12 takes std::string + "text" for an overlapping copy at -O3 (GCC bug 105651).
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    -Werror=switch  # an enumerator that a switch forgot: how an addition finds every place that must know it
    $<$<BOOL:${COLLBENCH_WARNINGS_AS_ERRORS}>:-Werror>)
  if(COLLBENCH_SANITIZE)
    set(sanitizers address,undefined)
    if(COLLBENCH_SANITIZE STREQUAL thread)
      set(sanitizers thread)
    endif()
    target_compile_options(${target} ${visibility} -fsanitize=${sanitizers} -fno-omit-frame-pointer
      -fno-sanitize-recover=undefined)
    target_link_options(${target} ${visibility} -fsanitize=${sanitizers})
  endif()
endfunction()

# For the sources of tests, which are half of all there is to compile: hardly optimised, they take half the time.
function(collbench_test_options target)
  collbench_compile_options(${target} PRIVATE)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-Og> $<$<CONFIG:Debug>:-O0>)
endfunction()

# Several files are compiled at once (CMAKE_UNITY_BUILD), in less than half the time. Not the algorithms on host memory,
# which are alike by design: they use the same names inside.
function(collbench_compile_alone)
  set(sources ${ARGN})
  list(FILTER sources INCLUDE REGEX "/analysis/models/host/(all_(gather|reduce|to_all)|reduce_scatter)\\.cpp$")
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  # NCCL's search takes as many steps as NCCL's own, thousands of times in the tests: optimised in every build.
  set(search ${ARGN})
  list(FILTER search INCLUDE REGEX "/analysis/models/nccl/(channel_(search|steps)|machine_paths)\\.cpp$")
  set_source_files_properties(${search} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
    COMPILE_OPTIONS $<$<CONFIG:Debug>:-O2>)
  # What the probe times is the machine's arithmetic and memory, in every build.
  set(timed ${ARGN})
  list(FILTER timed INCLUDE REGEX "/(fma|triad)_loop\\.cpp$")
  set_source_files_properties(${timed} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS $<$<CONFIG:Debug>:-O3>)
endfunction()

function(collbench_subsystem name)
  cmake_parse_arguments(subsystem "" "" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${name}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "_smpi\\.cpp$")  # the simulator's side of a seam: only in collbench-smpi
  list(FILTER sources EXCLUDE REGEX "/nccl/observer/[^/]+$")  # a library of its own: Observer.cmake
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE "${CMAKE_SOURCE_DIR}")
    target_link_libraries(${name} INTERFACE ${subsystem_PUBLIC})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${subsystem_PUBLIC} PRIVATE ${subsystem_PRIVATE})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  collbench_compile_alone(${sources})
  collbench_compile_options(${name} PRIVATE)
endfunction()

# A program over libcollbench, which lies beside it in the build, and in lib/collbench where it is installed. By an RPATH, not a
# RUNPATH, so that LD_LIBRARY_PATH, in which another version may be, does not come before it.
function(collbench_program name)
  target_link_libraries(${name} PRIVATE libcollbench)
  target_link_options(${name} PRIVATE -Wl,--disable-new-dtags)
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/../lib/collbench")
endfunction()
