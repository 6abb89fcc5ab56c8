# The kernel library of the NCCL backend, where nvcc is. Without it everything else is built, and `--backend nccl`
# says what is missing.
option(COLLBENCH_KERNELS "Build the GPU kernels when nvcc is found" ON)
if(NOT COLLBENCH_KERNELS)
  return()
endif()
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(COLLBENCH_NVCC nvcc HINTS /usr/local/cuda/bin)
  if(COLLBENCH_NVCC)
    set(CMAKE_CUDA_COMPILER "${COLLBENCH_NVCC}")
  endif()
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES all-major)
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "off: GPU kernels, which --backend nccl needs (install the CUDA toolkit)")
  return()
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")  # of nvcc 12 and 13, which CMake 3.25 does not know
endif()

add_library(collbench_kernels MODULE "${CMAKE_SOURCE_DIR}/collectives/nccl/kernels.cu"
  "${CMAKE_SOURCE_DIR}/collectives/nccl/probe_kernels.cu")
target_include_directories(collbench_kernels PRIVATE "${CMAKE_SOURCE_DIR}")
target_compile_options(collbench_kernels PRIVATE --expt-relaxed-constexpr
  -Xcompiler=-Wall,-Wextra,-fvisibility=hidden,-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
# Its symbols name a temporary file of nvcc's, another one in each build.
target_link_options(collbench_kernels PRIVATE -Wl,--strip-all)
set_target_properties(collbench_kernels PROPERTIES CUDA_STANDARD 20 CUDA_RUNTIME_LIBRARY Static LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/src")
install(TARGETS collbench_kernels LIBRARY DESTINATION lib COMPONENT nccl)
