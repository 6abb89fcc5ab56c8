# Man pages and completions are written by the program itself when it is installed: they say what its --help says.
install(CODE [[
  function(collbench_write_shell_help program share)
    file(MAKE_DIRECTORY "${share}/man/man1" "${share}/bash-completion/completions" "${share}/zsh/site-functions"
      "${share}/fish/vendor_completions.d")
    execute_process(COMMAND "${program}" man --folder "${share}/man/man1" COMMAND_ERROR_IS_FATAL ANY)
    foreach(shell bash zsh fish)
      set(bash_file bash-completion/completions/collbench)
      set(zsh_file zsh/site-functions/_collbench)
      set(fish_file fish/vendor_completions.d/collbench.fish)
      message(STATUS "Installing: ${share}/${${shell}_file}")
      execute_process(COMMAND "${program}" completion ${shell} OUTPUT_FILE "${share}/${${shell}_file}"
        COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
  endfunction()
  collbench_write_shell_help("$<TARGET_FILE:collbench>" "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share")
]])
install(FILES "${CMAKE_SOURCE_DIR}/LICENSE" DESTINATION share/doc/collbench RENAME copyright)
install(FILES "${CMAKE_SOURCE_DIR}/README.md" "${CMAKE_SOURCE_DIR}/CHANGELOG.md" DESTINATION share/doc/collbench)
install(DIRECTORY "${CMAKE_SOURCE_DIR}/docs" DESTINATION share/doc/collbench PATTERN site EXCLUDE)
