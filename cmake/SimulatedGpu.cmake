# The simulated GPU host (simulated_gpu/, docs/gpu.md): a library that a real libnccl runs over on a machine without a GPU.
# It is no room that others are linked with: a program loads it when it is asked to simulate, and never otherwise.
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

# NVML under the name that NCCL loads it by, in a folder of its own so that nothing else finds it.
add_library(simulated_nvml SHARED "${CMAKE_SOURCE_DIR}/simulated_gpu/libraries/simulated_host.cpp")
target_link_libraries(simulated_nvml PRIVATE collbench_simulated_gpu)
target_link_options(simulated_nvml PRIVATE -Wl,--no-as-needed)
set_target_properties(simulated_nvml PROPERTIES OUTPUT_NAME nvidia-ml SOVERSION 1
  LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/src/simulated_gpu" BUILD_RPATH "$ORIGIN/.." INSTALL_RPATH "$ORIGIN/..")
collbench_compile_options(simulated_nvml PRIVATE)

install(TARGETS collbench_simulated_gpu LIBRARY DESTINATION lib)
install(TARGETS simulated_nvml LIBRARY DESTINATION lib/simulated_gpu NAMELINK_SKIP)
