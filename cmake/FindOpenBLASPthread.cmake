# OpenBLAS, which must be the pthread (or openmp) build: Debian's serial one gives
# wrong results when two threads call it at once. Makes
#   OpenBLASPthread::openblas          the shared library, with its headers
#   OpenBLASPthread::openblas_archive  the same build as an archive, where there is
#                                      one: for a library that must not share its
#                                      BLAS with the process that loads it
# Installed beside AICFConfig.cmake, so that the package names no path of the machine
# that built it.
find_library(OPENBLAS_LIBRARY NAMES openblas
  PATH_SUFFIXES openblas-pthread ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread)
find_path(OPENBLAS_INCLUDE_DIR NAMES openblas_config.h
  PATH_SUFFIXES openblas-pthread ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread openblas)
mark_as_advanced(OPENBLAS_LIBRARY OPENBLAS_INCLUDE_DIR OPENBLAS_ARCHIVE)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLASPthread DEFAULT_MSG OPENBLAS_LIBRARY
  OPENBLAS_INCLUDE_DIR)
if(OpenBLASPthread_FOUND AND NOT TARGET OpenBLASPthread::openblas)
  get_filename_component(openblas_folder ${OPENBLAS_LIBRARY} DIRECTORY)
  find_library(OPENBLAS_ARCHIVE NAMES libopenblas.a HINTS ${openblas_folder}
    NO_DEFAULT_PATH)
  add_library(OpenBLASPthread::openblas UNKNOWN IMPORTED)
  set_target_properties(OpenBLASPthread::openblas PROPERTIES
    IMPORTED_LOCATION ${OPENBLAS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${OPENBLAS_INCLUDE_DIR})
  if(OPENBLAS_ARCHIVE)
    add_library(OpenBLASPthread::openblas_archive UNKNOWN IMPORTED)
    set_target_properties(OpenBLASPthread::openblas_archive PROPERTIES
      IMPORTED_LOCATION ${OPENBLAS_ARCHIVE}
      INTERFACE_INCLUDE_DIRECTORIES ${OPENBLAS_INCLUDE_DIR})
  endif()
endif()
