# The kernel library for drivers of CUDA 12, which run nothing that nvcc 13 makes: by clang, with CUDA 12.9 as PyPI has it, which
# is all but nvcc (scripts/setup bundle).
find_path(COLLBENCH_CUDA12 include/cuda_runtime.h NO_DEFAULT_PATH
  PATHS "$ENV{XDG_CACHE_HOME}/collbench/cuda12" "$ENV{HOME}/.cache/collbench/cuda12")
find_program(COLLBENCH_CUDA_CLANG clang++-19)
if(NOT COLLBENCH_KERNELS OR NOT COLLBENCH_CUDA12 OR NOT COLLBENCH_CUDA_CLANG)
  message(STATUS "off: GPU kernels for drivers of CUDA 12 (scripts/setup bundle)")
  return()
endif()

function(collbench_add_cuda12_kernels cuda)
  set(clang "${COLLBENCH_CUDA_CLANG}" -x cuda "--cuda-path=${cuda}" -Wno-unknown-cuda-version -std=c++20 -O3
    "-I${CMAKE_SOURCE_DIR}" "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")
  set(folder "${CMAKE_BINARY_DIR}/cuda12_kernels")
  file(MAKE_DIRECTORY "${folder}")
  file(GLOB headers CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/collectives/data/*.hpp")
  list(APPEND headers "${CMAKE_SOURCE_DIR}/collectives/nccl/loader/kernel_interface.hpp"
    "${CMAKE_SOURCE_DIR}/base/record/data_type.hpp" "${CMAKE_SOURCE_DIR}/base/deterministic_random.hpp")
  set(objects "")
  foreach(name kernels probe_kernels)
    set(source "${CMAKE_SOURCE_DIR}/collectives/nccl/${name}.cu")
    set(made "${folder}/${name}")
    set(commands "")
    # What clang 19 has no name for is assembled from code for its elders; the newest is also there for the driver to assemble.
    set(images "--image3=kind=ptx,sm=90,file=${made}.90.ptx")
    foreach(code_and_gpu 70:70 80:80 90:90 90:100 90:120)
      string(REPLACE ":" ";" pair "${code_and_gpu}")
      list(GET pair 0 code)
      list(GET pair 1 gpu)
      if(code EQUAL gpu)
        list(APPEND commands COMMAND ${clang} --cuda-device-only --cuda-gpu-arch=sm_${code} -S "${source}" -o "${made}.${code}.ptx")
      endif()
      list(APPEND commands COMMAND "${cuda}/bin/ptxas" -O3 -arch=sm_${gpu} "${made}.${code}.ptx" -o "${made}.${gpu}.cubin")
      list(APPEND images "--image3=kind=elf,sm=${gpu},file=${made}.${gpu}.cubin")
    endforeach()
    # Of CUDA 13, whose images are those of 12 byte for byte as long as nothing is compressed.
    list(APPEND commands COMMAND "${cuda}/bin/fatbinary" -64 --compress=false "--create=${made}.fatbin" ${images})
    add_custom_command(OUTPUT "${made}.o" ${commands}
      COMMAND ${clang} --cuda-host-only -fPIC -fvisibility=hidden -Xclang -fcuda-include-gpubinary -Xclang "${made}.fatbin"
        -c "${source}" -o "${made}.o"
      DEPENDS "${source}" ${headers} COMMENT "GPU kernels for CUDA 12: ${name}" VERBATIM)
    list(APPEND objects "${made}.o")
  endforeach()

  add_library(collbench_kernels_cuda12 MODULE ${objects})
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_link_libraries(collbench_kernels_cuda12 PRIVATE "${cuda}/lib64/libcudart_static.a" ${CMAKE_DL_LIBS} rt pthread)
  target_link_options(collbench_kernels_cuda12 PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,--strip-all)
  set_target_properties(collbench_kernels_cuda12 PROPERTIES LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/src")
  install(TARGETS collbench_kernels_cuda12 LIBRARY DESTINATION lib COMPONENT nccl)
endfunction()
collbench_add_cuda12_kernels("${COLLBENCH_CUDA12}")
