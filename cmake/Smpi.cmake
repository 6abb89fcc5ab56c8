# collbench-smpi: the same program for SimGrid's simulated time. smpirun loads it as a shared object, once per rank.
# What knows no MPI is linked as it is (so it is position independent): src, whose library brings Open MPI along and is
# therefore named by its file, and the subsystems below it. launch and collectives are compiled again with SimGrid's mpi.h.
# Where a subsystem has X.cpp and X_smpi.cpp, the latter stands in for the former.
function(collbench_smpi_program name)
  set(sources ${ARGN})
  foreach(subsystem launch collectives)
    file(GLOB_RECURSE subsystem_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${subsystem}/*.cpp")
    list(APPEND sources ${subsystem_sources})
  endforeach()
  foreach(source IN LISTS sources)
    if(source MATCHES "_smpi\\.cpp$")
      string(REGEX REPLACE "_smpi\\.cpp$" ".cpp" real "${source}")
      list(REMOVE_ITEM sources "${real}")
    endif()
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/nccl/(observer|on_host)/[^/]+$")
  list(FILTER sources EXCLUDE REGEX "/mpi_t_[a-z_]+\\.cpp$")  # SimGrid's MPI has no tool interface
  collbench_compile_alone(${sources})
  add_library(${name} MODULE ${sources})
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX "" POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_include_directories(${name} SYSTEM BEFORE PRIVATE /usr/include/smpi ${SIMGRID_INCLUDE_DIRS})
  add_dependencies(${name} program)
  target_link_libraries(${name} PRIVATE $<TARGET_FILE:program> analysis topology base ${SIMGRID_LINK_LIBRARIES} Eigen3::Eigen spdlog::spdlog
    CLI11::CLI11 tomlplusplus::tomlplusplus PkgConfig::HWLOC)
  target_link_options(${name} PRIVATE -Wl,-z,defs)
  collbench_compile_options(${name} PRIVATE)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-Og>)  # what it measures is the simulator's time
endfunction()
