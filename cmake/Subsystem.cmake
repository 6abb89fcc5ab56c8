# One static library per subsystem (a top-level folder).
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

# For the sources of tests, which are half of all there is to compile. Not -O0: it compiles hardly faster, and its copies of inline
# functions come before the libraries' in a test program (the tests of plan took 18 s of processor time in place of 3).
function(collbench_test_options target)
  collbench_compile_options(${target} PRIVATE)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-Og;-g0> $<$<CONFIG:Debug>:-O0>
    $<$<BOOL:${COLLBENCH_FUZZ}>:-g0>)
endfunction()

# Several files are compiled at once (CMAKE_UNITY_BUILD), in less than half the time. Not the algorithms on host memory,
# which are alike by design: they use the same names inside.
function(collbench_compile_alone)
  set(sources ${ARGN})
  list(FILTER sources INCLUDE REGEX "/analysis/models/host/(all_(gather|reduce|to_all)|reduce_scatter)\\.cpp$")
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  # NCCL's search takes as many steps as NCCL's own, thousands of times in the tests: optimized in every build.
  set(search ${ARGN})
  list(FILTER search INCLUDE REGEX "/analysis/models/nccl/(channel_(search|steps)|machine_paths)\\.cpp$")
  set_source_files_properties(${search} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
    COMPILE_OPTIONS $<$<CONFIG:Debug>:-O2>)
  # What the probe times is the machine's arithmetic and memory, in every build.
  set(timed ${ARGN})
  list(FILTER timed INCLUDE REGEX "/(fma|triad)_loop\\.cpp$")
  set_source_files_properties(${timed} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS $<$<CONFIG:Debug>:-O3>)
endfunction()

# What large inputs and many machines pass through, what simulates or searches, and what is measured. Everything else is there once
# for a command or a page: -Og, which is compiled sooner (CONTRIBUTING.md).
string(CONCAT COLLBENCH_HOT "^${CMAKE_SOURCE_DIR}/(base/|launch/|collectives/|topology/(graph|readers|diff|cluster|doctor)/"
  "|analysis/(models|import|compare|hang|stragglers|verdict)/"
  "|analysis/report/(columns|sections|text|text_layout|footer|verdicts)\\.cpp"
  "|tools/(plan/step|nccl_plan/plan|burnin/attribution|probe/processor|inspector)/)")

# collbench_library(NAME SOURCES file... [PUBLIC library...] [PRIVATE library...]): a static library. Where some of its sources
# are hot and some are not, these are also the object library NAME_cold.
function(collbench_library name)
  cmake_parse_arguments(library "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  set(cold ${library_SOURCES})
  list(FILTER cold EXCLUDE REGEX "${COLLBENCH_HOT}")
  set(hot ${library_SOURCES})
  list(REMOVE_ITEM hot ${cold})
  set(parts ${name})
  if(hot AND cold)
    add_library(${name}_cold OBJECT ${cold})
    add_library(${name} STATIC ${hot} $<TARGET_OBJECTS:${name}_cold>)
    list(APPEND parts ${name}_cold)
  else()
    add_library(${name} STATIC ${library_SOURCES})
  endif()
  foreach(part IN LISTS parts)
    target_include_directories(${part} PUBLIC "${CMAKE_SOURCE_DIR}")
    target_link_libraries(${part} PUBLIC ${library_PUBLIC} PRIVATE ${library_PRIVATE})
    set_target_properties(${part} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    collbench_compile_options(${part} PRIVATE)
  endforeach()
  if(cold)
    list(GET parts -1 part)
    target_compile_options(${part} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-Og>)
  endif()
  set(${name}_parts ${parts} PARENT_SCOPE)
  collbench_compile_alone(${library_SOURCES})
endfunction()

function(collbench_subsystem name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${name}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "_smpi\\.cpp$")  # the simulator's side of a seam: only in collbench-smpi
  # Libraries of their own: MpiLibraries.cmake, Observer.cmake, OnHost.cmake.
  list(FILTER sources EXCLUDE REGEX "/mpi/.+|/nccl/(observer|on_host)/[^/]+$")
  if(name STREQUAL collectives)
    list(APPEND sources "${CMAKE_SOURCE_DIR}/collectives/mpi/mpi_library.cpp")  # loads them
  endif()
  collbench_library(${name} SOURCES ${sources} ${ARGN})
  set(${name}_parts ${${name}_parts} PARENT_SCOPE)
endfunction()

# A program over libcollbench, which lies beside it in the build, and in lib/collbench where it is installed. By an RPATH, not a
# RUNPATH, so that LD_LIBRARY_PATH, in which another version may be, does not come before it.
function(collbench_program name)
  target_link_libraries(${name} PRIVATE libcollbench)
  target_link_options(${name} PRIVATE -Wl,--disable-new-dtags)
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/../lib/collbench")
endfunction()
