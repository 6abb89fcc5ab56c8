# Tests that run as several ranks. A program of them has its own main (tests/mpi_main.cpp); its sources are
# called *_mpi_test.cpp, which keeps them out of the subsystem's ordinary test program.

# collbench_mpi_program(PROGRAM SOURCE...): linked with the subsystems that know MPI.
function(collbench_mpi_program program)
  add_executable(${program} ${ARGN} "${CMAKE_SOURCE_DIR}/tests/mpi_main.cpp")
  target_link_libraries(${program} PRIVATE ${COLLBENCH_MPI} collectives launch base MPI::MPI_CXX GTest::gmock GTest::gtest)
  collbench_test_options(${program})
endfunction()

# collbench_mpi_test(NAME PROGRAM program RANKS n... [QUIET] [FILTER tests] [ENVIRONMENT name=value...]): one ctest
# test mpi.NAME.npN for each number of ranks. FILTER is googletest's; QUIET runs nothing beside it. More ranks than
# cores yield instead of spinning; root may run it; under the sanitizers leaks are not looked for, since Open MPI leaves
# thousands.
function(collbench_mpi_test name)
  cmake_parse_arguments(test "QUIET" "PROGRAM;FILTER" "RANKS;ENVIRONMENT" ${ARGN})
  if(NOT test_FILTER)
    set(test_FILTER "*")
  endif()
  foreach(ranks IN LISTS test_RANKS)
    set(full_name "mpi.${name}.np${ranks}")
    add_test(NAME ${full_name}
      COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe --bind-to none --mca mpi_yield_when_idle 1
        -np ${ranks} $<TARGET_FILE:${test_PROGRAM}> --gtest_filter=${test_FILTER})
    set_tests_properties(${full_name} PROPERTIES RUN_SERIAL ${test_QUIET} TIMEOUT 60 LABELS mpi
      ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;ASAN_OPTIONS=detect_leaks=0;${test_ENVIRONMENT}")
  endforeach()
endfunction()
