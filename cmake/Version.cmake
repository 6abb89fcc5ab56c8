# The version of the sources, asked at each build and not when CMake configures: WriteVersion.cmake. Its two files change only
# with the version, so that a commit compiles one file and links.
set(COLLBENCH_VERSION "" CACHE STRING "The version, where neither git nor the file VERSION can say it")
set(COLLBENCH_VERSION_FOLDER "${CMAKE_BINARY_DIR}/version")
set(write_version "${CMAKE_COMMAND}" "-DSOURCES=${CMAKE_SOURCE_DIR}" "-DRESULTS=${COLLBENCH_VERSION_FOLDER}"
  "-DGIVEN=${COLLBENCH_VERSION}" -P "${CMAKE_SOURCE_DIR}/cmake/WriteVersion.cmake")
execute_process(COMMAND ${write_version} COMMAND_ERROR_IS_FATAL ANY)  # wrong ones end here
add_custom_target(version COMMAND ${write_version} BYPRODUCTS "${COLLBENCH_VERSION_FOLDER}/version_number.cpp"
  COMMENT "" VERBATIM)
