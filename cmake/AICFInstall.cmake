# `cmake --install build --component runtime`: headers, libraries and tools that
# need no LLVM, with a package file for find_package(AICF).
include(CMakePackageConfigHelpers)
get_property(runtime_libraries GLOBAL PROPERTY AICF_RUNTIME_LIBRARIES)
list(REMOVE_ITEM runtime_libraries aicfKernelsReference)
install(TARGETS ${runtime_libraries} EXPORT AICFTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
install(TARGETS aicf-run aicf-plan
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
file(GLOB headers ${PROJECT_SOURCE_DIR}/include/aicf/*.h)
list(FILTER headers EXCLUDE REGEX "/Compiler\\.h$")
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/aicf
  COMPONENT runtime)
install(EXPORT AICFTargets NAMESPACE AICF:: COMPONENT runtime
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/AICF)
file(WRITE ${PROJECT_BINARY_DIR}/AICFConfig.cmake "\
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(\${CMAKE_CURRENT_LIST_DIR}/AICFTargets.cmake)
# With the compiler's component: AICF::AICFTransforms, AICF::AICFTarget. It needs
# the MLIR that AICF was built with.
if(EXISTS \${CMAKE_CURRENT_LIST_DIR}/AICFCompilerTargets.cmake)
  find_dependency(MLIR CONFIG)
  include(\${CMAKE_CURRENT_LIST_DIR}/AICFCompilerTargets.cmake)
endif()
")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/AICFConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/AICFConfig.cmake
              ${PROJECT_BINARY_DIR}/AICFConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/AICF COMPONENT runtime)

# `--component compiler`, on top of the runtime's: dialects and passes for an MLIR
# compiler of one's own, and the tools.
if(AICF_BUILD_COMPILER)
  get_property(compiler_libraries GLOBAL PROPERTY AICF_COMPILER_LIBRARIES)
  install(TARGETS ${compiler_libraries} EXPORT AICFCompilerTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler)
  install(EXPORT AICFCompilerTargets NAMESPACE AICF:: COMPONENT compiler
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/AICF)
  install(FILES ${PROJECT_SOURCE_DIR}/include/aicf/Compiler.h
                ${PROJECT_BINARY_DIR}/include/aicf/Passes.h.inc
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/aicf COMPONENT compiler)
  foreach(root ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    install(DIRECTORY ${root}/include/aicf/Dialect
      DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/aicf COMPONENT compiler
      FILES_MATCHING PATTERN "*.h" PATTERN "*.h.inc" PATTERN "CMakeFiles" EXCLUDE)
  endforeach()
  install(TARGETS aicf-opt aicf-translate aicf-compile aicf-lsp-server
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
endif()
