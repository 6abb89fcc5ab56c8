# What is compiled against mpi.h, launch/mpi and collectives/mpi: a library of its own for each ABI of MPI, which libcollbench
# loads from beside itself (collectives/mpi/mpi_library.cpp). mpi_NAME is the same to link tests with.
file(GLOB_RECURSE mpi_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/launch/mpi/*.cpp" "${CMAKE_SOURCE_DIR}/collectives/mpi/*.cpp")
list(FILTER mpi_sources EXCLUDE REGEX "(_smpi|/mpi_library)\\.cpp$")

set(COLLBENCH_MPI_LIBRARIES "")
# collbench_mpi_library(NAME library...): compiled and linked with the libraries.
function(collbench_mpi_library name)
  collbench_library(mpi_${name} SOURCES ${mpi_sources} PUBLIC collectives launch base PRIVATE Eigen3::Eigen ${ARGN})
  add_library(collbench_${name} MODULE $<TARGET_OBJECTS:mpi_${name}>)
  target_link_libraries(collbench_${name} PRIVATE libcollbench ${ARGN})
  set_target_properties(collbench_${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/src")
  collbench_compile_options(collbench_${name} PRIVATE)
  install(TARGETS collbench_${name} LIBRARY DESTINATION lib/collbench)
  set(COLLBENCH_MPI_LIBRARIES ${COLLBENCH_MPI_LIBRARIES} collbench_${name} PARENT_SCOPE)
endfunction()

# The MPI that CMake found is of one ABI, and MPICH's header alone enough for the other: the library itself, or one of its ABI,
# is looked for where the program runs.
include(CheckCXXSymbolExists)
set(CMAKE_REQUIRED_INCLUDES ${MPI_CXX_INCLUDE_DIRS})
set(CMAKE_REQUIRED_DEFINITIONS -DOMPI_SKIP_MPICXX)  # whose library would have to be linked
check_cxx_symbol_exists(OPEN_MPI mpi.h COLLBENCH_MPI_IS_OPEN_MPI)
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_DEFINITIONS)
if(COLLBENCH_MPI_IS_OPEN_MPI)
  set(COLLBENCH_MPI mpi_open_mpi)
  collbench_mpi_library(open_mpi MPI::MPI_CXX)
  set(cache "$ENV{HOME}/.cache")
  if(DEFINED ENV{XDG_CACHE_HOME})
    set(cache "$ENV{XDG_CACHE_HOME}")
  endif()
  find_path(COLLBENCH_MPICH_INCLUDE mpi.h PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpich "${cache}/collbench/mpich"
    NO_DEFAULT_PATH)
  if(COLLBENCH_MPICH_INCLUDE)
    add_library(mpich_header INTERFACE)
    target_include_directories(mpich_header SYSTEM INTERFACE "${COLLBENCH_MPICH_INCLUDE}")
    target_compile_definitions(mpich_header INTERFACE MPICH_SKIP_MPICXX)
    collbench_mpi_library(mpich mpich_header)
  else()
    message(STATUS "off: ranks of MPICH, Intel MPI and Cray MPICH (scripts/setup test brings MPICH's header)")
  endif()
else()
  set(COLLBENCH_MPI mpi_mpich)
  target_compile_definitions(collectives PRIVATE COLLBENCH_MPICH_IS_LINKED)
  collbench_mpi_library(mpich MPI::MPI_CXX)
endif()
