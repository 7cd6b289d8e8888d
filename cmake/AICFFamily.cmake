# Kernel families: one line for each, in kernels/Families.cmake.

set(AICF_FAMILY_RULES "")
set(AICF_FAMILY_REFERENCES "")
set(AICF_FAMILY_CPU "")
set(AICF_FAMILY_CUDA "")
set(AICF_FAMILY_CUDA_EXACT "")
set(AICF_FAMILY_CUDA_LINTED "")
set(AICF_FAMILY_CUDA_TEXT "")
set(AICF_FAMILY_CUDA_TEXT_CONTRACTED "")
set(AICF_FAMILY_RECORDS "")
set(AICF_FAMILY_HEADERS "")
set(AICF_FAMILY_LIST "")
set(AICF_FAMILY_ELEMENTS "")
set(AICF_FAMILY_TEST_Samples "")
set(AICF_FAMILY_TEST_Rules "")
set(AICF_FAMILY_TEST_Kernels "")

# aicf_family(name [FMA a.cu ...] [CONTRACTED b.cu ...] [TEXT c.cu ...])
#
# Adds the folder `name` with its record, Family.td. The name of a file says what
# it is: Rules.cpp, Reference.cpp, *.cu and Cuda*.cpp for CUDA, every other *.cpp
# for the CPU; Family.h is what conditions of the record may call. In its folder
# test, Samples.cpp has legal calls, Rules.cpp what is wrong with others, Kernels.cpp
# tests of values.
#
# CUDA code is compiled without contraction, as that of the CPU is, and its PTX is
# checked for it. FMA names files whose sums of products call fma(): they are not
# checked. CONTRACTED names products, which may be contracted.
# TEXT names what becomes PTX text, of which the runtime makes kernels.
macro(aicf_family name)
  set(folder ${CMAKE_CURRENT_LIST_DIR}/${name})
  cmake_parse_arguments(FAMILY "" "" "FMA;CONTRACTED;TEXT" ${ARGN})
  foreach(file IN LISTS FAMILY_FMA FAMILY_CONTRACTED FAMILY_TEXT)
    if(NOT EXISTS ${folder}/${file})
      message(FATAL_ERROR "aicf_family(${name}): there is no ${file}")
    endif()
  endforeach()
  list(APPEND AICF_FAMILY_RECORDS "include \"kernels/${name}/Family.td\"")
  if(EXISTS ${folder}/Family.h)
    list(APPEND AICF_FAMILY_HEADERS "#include \"kernels/${name}/Family.h\"")
  endif()
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${folder}
       ${folder}/*.cpp ${folder}/*.cu)
  foreach(file IN LISTS files)
    if(file STREQUAL "Rules.cpp")
      list(APPEND AICF_FAMILY_RULES ${folder}/${file})
    elseif(file STREQUAL "Reference.cpp")
      list(APPEND AICF_FAMILY_REFERENCES ${folder}/${file})
    elseif(file MATCHES "^Cuda.*[.]cpp$")
      list(APPEND AICF_FAMILY_CUDA ${folder}/${file})
    elseif(file IN_LIST FAMILY_TEXT)
      if(file IN_LIST FAMILY_CONTRACTED)
        list(APPEND AICF_FAMILY_CUDA_TEXT_CONTRACTED ${folder}/${file})
      else()
        list(APPEND AICF_FAMILY_CUDA_TEXT ${folder}/${file})
      endif()
    elseif(file MATCHES "[.]cu$")
      list(APPEND AICF_FAMILY_CUDA ${folder}/${file})
      if(NOT file IN_LIST FAMILY_CONTRACTED)
        list(APPEND AICF_FAMILY_CUDA_EXACT ${folder}/${file})
        if(NOT file IN_LIST FAMILY_FMA)
          list(APPEND AICF_FAMILY_CUDA_LINTED ${folder}/${file})
        endif()
      endif()
    else()
      list(APPEND AICF_FAMILY_CPU ${folder}/${file})
    endif()
  endforeach()
  list(APPEND AICF_FAMILY_LIST "AICF_FAMILY(${name})")
  # Its elementwise kernels, which graphs on the CPU are made of.
  if(EXISTS ${folder}/Cpu.cpp)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/Cpu.cpp)
    file(STRINGS ${folder}/Cpu.cpp elements REGEX "> ${name}Elements\\(\\)")
    if(elements)
      list(APPEND AICF_FAMILY_ELEMENTS "AICF_ELEMENTS(${name})")
    endif()
  endif()
  file(GLOB tests CONFIGURE_DEPENDS RELATIVE ${folder}/test ${folder}/test/*)
  foreach(test IN LISTS tests)
    if(NOT test MATCHES "^(Samples|Rules|Kernels)[.]cpp$")
      message(FATAL_ERROR "kernels/${name}/test/${test}: expected Samples.cpp, "
                          "Rules.cpp or Kernels.cpp")
    endif()
    list(APPEND AICF_FAMILY_TEST_${CMAKE_MATCH_1} ${folder}/test/${test})
  endforeach()
endmacro()

# Writes what names every family: the records, for tablegen, the headers, for the
# kernel table, those with elementwise CPU kernels, and a list, for tests.
function(aicf_families_done)
  list(JOIN AICF_FAMILY_RECORDS "\n" records)
  list(JOIN AICF_FAMILY_HEADERS "\n" headers)
  list(JOIN AICF_FAMILY_LIST "\n" names)
  list(JOIN AICF_FAMILY_ELEMENTS "\n" elements)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/kernels/FamilyRecords.td
       CONTENT "${records}\n" @ONLY)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/kernels/FamilyHeaders.h
       CONTENT "${headers}\n" @ONLY)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/kernels/FamilyElements.inc
       CONTENT "${elements}\n#undef AICF_ELEMENTS\n" @ONLY)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/kernels/Families.inc
       CONTENT "${names}\n#undef AICF_FAMILY\n" @ONLY)
endfunction()
