# What NCCL's operations and our kernels do to data, by the CPU (collectives/nccl/on_host): for what simulates GPUs, and not in
# the program. Objects, because libraries that are loaded at run time take them in.
file(GLOB on_host_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/collectives/nccl/on_host/*.cpp")
add_library(nccl_on_host OBJECT ${on_host_sources})
target_link_libraries(nccl_on_host PRIVATE base Eigen3::Eigen)
set_target_properties(nccl_on_host PROPERTIES POSITION_INDEPENDENT_CODE ON)
collbench_compile_options(nccl_on_host PRIVATE)
