# `cmake --install build --component runtime`: headers, libraries and tools that
# need no LLVM, with a package file for find_package(AICF).
include(CMakePackageConfigHelpers)
get_property(runtime_libraries GLOBAL PROPERTY AICF_RUNTIME_LIBRARIES)
list(REMOVE_ITEM runtime_libraries aicfKernelsReference)
install(TARGETS ${runtime_libraries} EXPORT AICFTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
if(TARGET aicf_cuda) # beside libaicf.so, where CUDALoader.cpp looks
  install(TARGETS aicf_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT runtime)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
              ${PROJECT_SOURCE_DIR}/THIRD-PARTY-NOTICES
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(TARGETS aicf_c EXPORT AICFTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/aicf-c
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime)
# For C programs: pkg-config --cflags --libs aicf. Found by its own place.
file(WRITE ${PROJECT_BINARY_DIR}/aicf.pc "\
libdir=\${pcfiledir}/..
includedir=\${pcfiledir}/../../include

Name: aicf
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Libs: -L\${libdir} -laicf
Cflags: -I\${includedir}
")
install(FILES ${PROJECT_BINARY_DIR}/aicf.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
if(TARGET aicf-run)
  install(TARGETS aicf-run aicf-plan
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
endif()
file(GLOB headers ${PROJECT_SOURCE_DIR}/include/aicf/*.h)
list(FILTER headers EXCLUDE REGEX "/Compiler\\.h$")
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/aicf
  COMPONENT runtime)
install(EXPORT AICFTargets NAMESPACE AICF:: COMPONENT runtime
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/AICF)
set(gemm_dependencies "")
get_property(gemm_defines GLOBAL PROPERTY AICF_GEMM_DEFINES)
if("AICF_HAVE_OPENBLAS" IN_LIST gemm_defines)
  string(APPEND gemm_dependencies "find_dependency(OpenBLASPthread)\n")
endif()
file(WRITE ${PROJECT_BINARY_DIR}/AICFConfig.cmake "\
include(CMakeFindDependencyMacro)
find_dependency(Threads)
list(APPEND CMAKE_MODULE_PATH \${CMAKE_CURRENT_LIST_DIR})
${gemm_dependencies}include(\${CMAKE_CURRENT_LIST_DIR}/AICFTargets.cmake)
set(AICF_runtime_FOUND TRUE)
# The compiler (AICF::AICFTransforms, AICF::AICFTarget, AICF::AICFConversion with
# the bridges and registerAllPasses, and what they link) comes with COMPONENTS
# compiler, and without COMPONENTS where it is installed and its MLIR is there.
set(AICF_compiler_FOUND FALSE)
set(compiler_targets \${CMAKE_CURRENT_LIST_DIR}/AICFCompilerTargets.cmake)
if(\"compiler\" IN_LIST AICF_FIND_COMPONENTS OR
   (NOT AICF_FIND_COMPONENTS AND EXISTS \${compiler_targets}))
  set(AICF_NOT_FOUND_MESSAGE \"AICF's compiler is not installed\")
  if(EXISTS \${compiler_targets})
    find_package(MLIR CONFIG QUIET)
    set(AICF_NOT_FOUND_MESSAGE \"AICF was built with MLIR ${LLVM_PACKAGE_VERSION}, \\
found '\${LLVM_PACKAGE_VERSION}' (set MLIR_DIR to the folder of MLIRConfig.cmake)\")
  endif()
  if(EXISTS \${compiler_targets} AND MLIR_FOUND AND
     LLVM_PACKAGE_VERSION STREQUAL \"${LLVM_PACKAGE_VERSION}\")
    unset(AICF_NOT_FOUND_MESSAGE)
    set(AICF_compiler_FOUND TRUE)
    include(\${compiler_targets})
    target_include_directories(AICF::AICFDialect SYSTEM INTERFACE
      \${MLIR_INCLUDE_DIRS} \${LLVM_INCLUDE_DIRS})
  elseif(NOT AICF_FIND_COMPONENTS)
    # What was found is the runtime: no reason to fail, but one to say so.
    if(NOT AICF_FIND_QUIETLY)
      message(STATUS \"AICF: the runtime alone, without its compiler: \\
\${AICF_NOT_FOUND_MESSAGE}\")
    endif()
    unset(AICF_NOT_FOUND_MESSAGE)
  endif()
endif()
foreach(component IN LISTS AICF_FIND_COMPONENTS)
  if(AICF_FIND_REQUIRED_\${component} AND NOT AICF_\${component}_FOUND)
    set(AICF_FOUND FALSE)
    if(NOT DEFINED AICF_NOT_FOUND_MESSAGE)
      set(AICF_NOT_FOUND_MESSAGE \"AICF has no component '\${component}'\")
    endif()
  endif()
endforeach()
")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/AICFConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/AICFConfig.cmake
              ${PROJECT_BINARY_DIR}/AICFConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindOpenBLASPthread.cmake
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
                ${PROJECT_SOURCE_DIR}/include/aicf/Passes.td
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/aicf COMPONENT compiler)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/aicf/Dialect
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/aicf COMPONENT compiler
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
  install(DIRECTORY ${PROJECT_BINARY_DIR}/include/aicf/Dialect
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/aicf COMPONENT compiler
    FILES_MATCHING PATTERN "*.h.inc" PATTERN "CMakeFiles" EXCLUDE)
  # The records of primitives, for an embedder's patterns: -I .../aicf/td.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/kernels
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/aicf/td COMPONENT compiler
    FILES_MATCHING PATTERN "*.td")
  install(FILES ${PROJECT_BINARY_DIR}/include/kernels/FamilyRecords.td
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/aicf/td/kernels COMPONENT compiler)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/lib/Dialect ${PROJECT_SOURCE_DIR}/lib/Ops
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/aicf/td/lib COMPONENT compiler
    FILES_MATCHING PATTERN "*.td")
  install(TARGETS aicf-opt aicf-translate aicf-compile aicf-lsp-server
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
endif()

# `cpack -G DEB` in the build folder: aicf-runtime and aicf-compiler.
set(CPACK_PACKAGE_NAME aicf)
set(CPACK_PACKAGE_CONTACT "AICF developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME aicf-runtime)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME aicf-compiler)
set(CPACK_DEBIAN_COMPILER_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS "aicf-runtime (= ${PROJECT_VERSION})")
if("AICF_HAVE_ONEDNN" IN_LIST gemm_defines) # loaded, if it is there
  file(STRINGS ${ONEDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h onednn_major
    REGEX "define DNNL_VERSION_MAJOR")
  string(REGEX REPLACE ".* " "" onednn_major "${onednn_major}")
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS libdnnl${onednn_major})
endif()
find_program(AICF_SHLIBDEPS dpkg-shlibdeps)
if(AICF_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib
    ${LLVM_LIBRARY_DIRS})
else()
  message(STATUS "cpack -G DEB: no dpkg-shlibdeps (Debian: dpkg-dev), packages "
    "would not say what they depend on")
endif()
if(AICF_BUILD_COMPILER)
  list(APPEND CPACK_COMPONENTS_ALL compiler)
endif()
include(CPack)
