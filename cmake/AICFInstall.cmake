# `cmake --install build --component runtime`: headers, libraries and tools that
# need no LLVM, with a package file for find_package(AICF).
include(CMakePackageConfigHelpers)
get_property(runtime_libraries GLOBAL PROPERTY AICF_RUNTIME_LIBRARIES)
list(REMOVE_ITEM runtime_libraries aicfMemoryPlanner aicfKernelsReference)
install(TARGETS ${runtime_libraries} EXPORT AICFTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
install(TARGETS aicf-run aicf-plan
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
foreach(room ABI Support Plan Kernels Runtime)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/aicf/${room}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/aicf COMPONENT runtime
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
endforeach()
install(EXPORT AICFTargets NAMESPACE AICF:: COMPONENT runtime
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/AICF)
file(WRITE ${PROJECT_BINARY_DIR}/AICFConfig.cmake "\
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(\${CMAKE_CURRENT_LIST_DIR}/AICFTargets.cmake)
")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/AICFConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/AICFConfig.cmake
              ${PROJECT_BINARY_DIR}/AICFConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/AICF COMPONENT runtime)

if(AICF_BUILD_COMPILER)
  install(TARGETS aicf-opt aicf-translate aicf-compile aicf-lsp-server
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
endif()
