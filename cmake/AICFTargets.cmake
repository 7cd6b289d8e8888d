# Helpers for the runtime side: plain CMake, no LLVM.

add_library(aicf_options INTERFACE)
target_compile_options(aicf_options INTERFACE -Wall -Wextra)
if(AICF_WERROR)
  target_compile_options(aicf_options INTERFACE -Werror)
endif()
if(AICF_ASAN)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# With AICF_MUTANTS, sources are replaced by their instrumented copies where there
# are any: aicf_instrumented(out a.cpp b.cpp ...).
if(AICF_MUTANTS)
  find_program(PYTHON3 python3 REQUIRED)
  execute_process(COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/scripts/mutants
    instrument --out ${PROJECT_BINARY_DIR}/mutants RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "scripts/mutants instrument failed")
  endif()
  file(GLOB_RECURSE instrumented RELATIVE ${PROJECT_BINARY_DIR}/mutants
    ${PROJECT_BINARY_DIR}/mutants/*)
  list(TRANSFORM instrumented PREPEND ${PROJECT_SOURCE_DIR}/)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/scripts/mutants/cpp.py
    ${PROJECT_SOURCE_DIR}/scripts/mutants/__main__.py ${instrumented})
endif()
function(aicf_instrumented out)
  set(sources "")
  foreach(source IN LISTS ARGN)
    get_filename_component(path ${source} ABSOLUTE)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${path})
    set(copy ${PROJECT_BINARY_DIR}/mutants/${path})
    if(AICF_MUTANTS AND EXISTS ${copy})
      list(APPEND sources ${copy})
      set_property(GLOBAL APPEND PROPERTY AICF_INSTRUMENTED ${PROJECT_SOURCE_DIR}/${path})
      # What the source includes lies beside it.
      get_filename_component(folder ${PROJECT_SOURCE_DIR}/${path} DIRECTORY)
      set_property(SOURCE ${copy} APPEND PROPERTY INCLUDE_DIRECTORIES ${folder})
    else()
      list(APPEND sources ${source})
    endif()
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# A source with switches that nothing is made of would look as if no test reached it.
function(aicf_check_instrumented)
  get_property(used GLOBAL PROPERTY AICF_INSTRUMENTED)
  set(unused ${instrumented})
  list(REMOVE_ITEM unused ${used})
  list(FILTER unused EXCLUDE REGEX "[.]h$")
  if(unused)
    message(FATAL_ERROR "switches that nobody compiles, see BESIDES in scripts/mutants: "
      "${unused}")
  endif()
endfunction()

# With AICF_UNITY, some sources are compiled as one. Sources with options of their own
# are not.
function(aicf_join_sources name)
  if(AICF_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 5)
  endif()
endfunction()

# aicf_add_library(name SOURCES a.cpp ... LINK lib ...)
# A static library; with AICF_BUILD_TESTS also `<name>_asan`, the same sources
# under ASan and UBSan, which the hardening tests link.
function(aicf_add_library name)
  cmake_parse_arguments(ARG "NO_ASAN" "" "SOURCES;LINK;DEFINES;OPTIONS" ${ARGN})
  aicf_instrumented(ARG_SOURCES ${ARG_SOURCES})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  add_library(aicf::${name} ALIAS ${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE $<BUILD_INTERFACE:aicf_options>)
  target_compile_definitions(${name} PRIVATE ${ARG_DEFINES})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_property(GLOBAL APPEND PROPERTY AICF_RUNTIME_LIBRARIES ${name})
  aicf_join_sources(${name})
  if(AICF_BUILD_TESTS AND NOT AICF_ASAN AND NOT ARG_NO_ASAN)
    add_library(${name}_asan STATIC EXCLUDE_FROM_ALL ${ARG_SOURCES})
    aicf_join_sources(${name}_asan)
    set(asan_link "")
    foreach(lib IN LISTS ARG_LINK)
      if(TARGET ${lib}_asan)
        list(APPEND asan_link ${lib}_asan)
      else()
        list(APPEND asan_link ${lib})
      endif()
    endforeach()
    target_link_libraries(${name}_asan PUBLIC ${asan_link} PRIVATE aicf_options)
    target_compile_definitions(${name}_asan PRIVATE ${ARG_DEFINES})
    target_compile_options(${name}_asan PRIVATE ${ARG_OPTIONS}
      PUBLIC -fsanitize=address,undefined -fno-sanitize-recover=all -O1 -g1
             -fno-omit-frame-pointer)
    target_link_options(${name}_asan PUBLIC -fsanitize=address,undefined)
  endif()
endfunction()

# aicf_add_tool(name SOURCES a.cpp ... LINK lib ...): an executable in build/bin.
function(aicf_add_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  aicf_instrumented(ARG_SOURCES ${ARG_SOURCES})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} aicf_options)
endfunction()
