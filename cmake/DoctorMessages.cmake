# The wordings of a job's log, which the doctor reads lines by, become a source of the subsystem topology.
set(messages "${CMAKE_SOURCE_DIR}/topology/doctor/nccl_messages.txt")
file(READ "${messages}" NCCL_MESSAGES)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${messages}")
configure_file("${CMAKE_SOURCE_DIR}/topology/doctor/nccl_messages_text.cpp.in"
  "${CMAKE_BINARY_DIR}/doctor/nccl_messages_text.cpp" @ONLY)
set_source_files_properties("${CMAKE_BINARY_DIR}/doctor/nccl_messages_text.cpp" PROPERTIES
  COMPILE_OPTIONS -Wno-overlength-strings SKIP_UNITY_BUILD_INCLUSION ON)
target_sources(topology PRIVATE "${CMAKE_BINARY_DIR}/doctor/nccl_messages_text.cpp")
