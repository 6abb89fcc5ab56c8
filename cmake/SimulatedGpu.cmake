# The simulated GPU host (simulated_gpu/, docs/gpu.md): a library that a real libnccl runs over on a machine without a GPU.
# It is no subsystem that others are linked with: a program loads it when it is asked to simulate, and never otherwise.
set(simulated_gpu_exports "${CMAKE_SOURCE_DIR}/simulated_gpu/exports.map")
add_library(collbench_simulated_gpu SHARED "${CMAKE_SOURCE_DIR}/simulated_gpu/libraries/simulated_host.cpp")
target_link_libraries(collbench_simulated_gpu PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,simulated_gpu>)
target_link_options(collbench_simulated_gpu PRIVATE -Wl,--version-script=${simulated_gpu_exports})
if(NOT COLLBENCH_SANITIZE)  # clang's sanitizers are only in the program that loads the library
  target_link_options(collbench_simulated_gpu PRIVATE -Wl,-z,defs)
endif()
set_target_properties(collbench_simulated_gpu PROPERTIES LINK_DEPENDS ${simulated_gpu_exports}
  LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/src")
collbench_compile_options(collbench_simulated_gpu PRIVATE)

# The same under the names that NCCL loads its parts by, in a folder of their own so that nothing else finds them. Each
# needs the library, whose functions are thus found in it.
function(simulated_name target name)
  add_library(${target} SHARED "${CMAKE_SOURCE_DIR}/simulated_gpu/libraries/simulated_host.cpp")
  target_link_libraries(${target} PRIVATE collbench_simulated_gpu)
  target_link_options(${target} PRIVATE -Wl,--no-as-needed -Wl,-soname,${name})
  set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${name} NO_SONAME TRUE
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/src/simulated_gpu" INSTALL_RPATH "$ORIGIN/..")
  collbench_compile_options(${target} PRIVATE)
  install(TARGETS ${target} LIBRARY DESTINATION lib/simulated_gpu COMPONENT nccl)
endfunction()
simulated_name(simulated_nvml libnvidia-ml.so.1)
simulated_name(simulated_driver libcuda.so)
simulated_name(simulated_network libnccl-net-collbench-simulated.so)
# And the runtime of each major version, for a libnccl that does not have it linked in.
simulated_name(simulated_runtime_11 libcudart.so.11.0)
simulated_name(simulated_runtime_12 libcudart.so.12)
simulated_name(simulated_runtime_13 libcudart.so.13)
add_custom_target(simulated_names DEPENDS simulated_nvml simulated_driver simulated_network simulated_runtime_11
  simulated_runtime_12 simulated_runtime_13)

install(TARGETS collbench_simulated_gpu LIBRARY DESTINATION lib COMPONENT nccl)
