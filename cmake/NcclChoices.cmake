# What NCCL chooses, as scripts/nccl-choices wrote it down, becomes a source of the subsystem analysis.
set(choices "${CMAKE_SOURCE_DIR}/analysis/models/nccl/nccl_choices.txt")
file(READ "${choices}" text)
string(REGEX MATCH "\nversions \\| ([0-9, ]+)\n(.*)" _ "${text}")
set(NCCL_CHOICE_VERSIONS "${CMAKE_MATCH_1}")
string(REGEX REPLACE "([^|\n]+) \\| ([0-9]+) \\| ([0-9]+) \\| ([^|\n]+) \\| ?([^|\n]*)\n" "    {\"\\1\", \\2, \\3, \"\\4\", \"\\5\"},\n"
  NCCL_CHOICE_ENTRIES "${CMAKE_MATCH_2}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${choices}")
configure_file("${CMAKE_SOURCE_DIR}/analysis/models/nccl/nccl_choice_table.cpp.in"
  "${CMAKE_BINARY_DIR}/nccl_choices/nccl_choice_table.cpp" @ONLY)
target_sources(analysis PRIVATE "${CMAKE_BINARY_DIR}/nccl_choices/nccl_choice_table.cpp")
