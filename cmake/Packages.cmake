# Debian packages and a relocatable archive, by scripts/package (docs/install.md). What the backend nccl needs beside
# libnccl is a package of its own: a machine without GPUs has no use for it.
set(CPACK_PACKAGE_VENDOR "collbench")
set(CPACK_PACKAGE_CONTACT "the collbench authors <collbench@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_SOURCE_DIR}/LICENSE")
set(CPACK_COMPONENTS_ALL program nccl)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_BINARY_DIR}/src")  # libcollbench
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME collbench)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS openmpi-bin)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "graphviz")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS collbench-nccl)
set(CPACK_DEBIAN_NCCL_PACKAGE_NAME collbench-nccl)
set(CPACK_DEBIAN_NCCL_DESCRIPTION "GPU kernels, NCCL observer and simulated GPUs of collbench")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
  "Measures collective operations of MPI and NCCL, and compares them with what the machine should give.")
set(CPACK_COMPONENT_NCCL_DESCRIPTION
  "What collbench loads to measure NCCL on GPUs: kernels that fill and check buffers, the observer that NCCL loads as a\nplugin, and the simulated GPUs over which NCCL plans without any.")
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
# What depends on the version, which is known when packages are made.
configure_file("${CMAKE_SOURCE_DIR}/cmake/PackageVersion.cmake.in" "${CMAKE_BINARY_DIR}/version/PackageVersion.cmake" @ONLY)
set(CPACK_PROJECT_CONFIG_FILE "${CMAKE_BINARY_DIR}/version/PackageVersion.cmake")
include(CPack)
