# The observer library, which NCCL loads as its tuner and profiler plugin (collectives/nccl/observer, docs/gpu.md). It
# needs neither NCCL nor CUDA, and nothing of ours but what stands beside it, and the names in
# base/record/nccl_algorithm.hpp.
file(GLOB observer_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/collectives/nccl/observer/*.cpp")
set(observer_exports "${CMAKE_SOURCE_DIR}/collectives/nccl/observer/exports.map")
add_library(collbench_observer MODULE ${observer_sources})
target_include_directories(collbench_observer PRIVATE "${CMAKE_SOURCE_DIR}")
target_link_options(collbench_observer PRIVATE -Wl,--version-script=${observer_exports})
if(NOT COLLBENCH_SANITIZE)  # clang's sanitizers are only in the program that loads the library
  target_link_options(collbench_observer PRIVATE -Wl,-z,defs)
endif()
# Each file is an interface of NCCL's with the same names inside: compiled alone.
set_target_properties(collbench_observer PROPERTIES LINK_DEPENDS ${observer_exports} UNITY_BUILD OFF
  LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/src")
collbench_compile_options(collbench_observer PRIVATE)
install(TARGETS collbench_observer LIBRARY DESTINATION lib COMPONENT nccl)
