# The compiler side: MLIR from MLIR_DIR, or Debian's LLVM 22.

if(NOT MLIR_DIR)
  find_program(LLVM_CONFIG NAMES llvm-config-22)
  if(LLVM_CONFIG)
    execute_process(COMMAND ${LLVM_CONFIG} --cmakedir OUTPUT_VARIABLE llvm_cmake
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(MLIR_DIR ${llvm_cmake}/../mlir)
  endif()
endif()
# Without a version: Debian's package file refuses to be asked for "22".
find_package(MLIR CONFIG QUIET)
if(NOT MLIR_FOUND)
  message(FATAL_ERROR "The compiler needs MLIR 22, which was not found.\n"
    "  make setup                   installs it on Debian 12 and Ubuntu, with the rest\n"
    "  -DMLIR_DIR=/path/lib/cmake/mlir  says where it is elsewhere\n"
    "  -DAICF_BUILD_COMPILER=OFF    builds the runtime alone, which needs none")
endif()
if(NOT LLVM_PACKAGE_VERSION MATCHES "^22\\.")
  message(FATAL_ERROR "MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}: the compiler needs "
    "MLIR 22 (make setup installs it on Debian 12)")
endif()
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} from ${MLIR_DIR}")
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

find_program(LLD NAMES ld.lld-22 ld.lld HINTS ${LLVM_TOOLS_BINARY_DIR})

add_library(aicf_mlir_options INTERFACE)
target_include_directories(aicf_mlir_options SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_options(aicf_mlir_options INTERFACE
  -fno-exceptions -Wno-unused-parameter -Wno-comment)
target_link_libraries(aicf_mlir_options INTERFACE aicf_options)

# aicf_add_compiler_library(name SOURCES ... DEPENDS tablegen-targets LINK libs)
function(aicf_add_compiler_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  aicf_instrumented(ARG_SOURCES ${ARG_SOURCES})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE $<BUILD_INTERFACE:aicf_mlir_options>)
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  aicf_join_sources(${name})
  set_property(GLOBAL APPEND PROPERTY AICF_COMPILER_LIBRARIES ${name})
endfunction()

# aicf_add_compiler_tool(name SOURCES ... LINK libs)
function(aicf_add_compiler_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  aicf_instrumented(ARG_SOURCES ${ARG_SOURCES})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} aicf_mlir_options)
  if(AICF_ASAN)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/SanitizerOptions.cpp)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(LLD)
    target_link_options(${name} PRIVATE -fuse-ld=lld -B${LLVM_TOOLS_BINARY_DIR})
  endif()
endfunction()
