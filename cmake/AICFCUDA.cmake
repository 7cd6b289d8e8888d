# The CUDA toolkit, if it is wanted and there: sets AICF_HAVE_CUDA. Machine code
# for sm_90a, and PTX of compute_80 for every other card.
set(AICF_HAVE_CUDA OFF)
if(AICF_ENABLE_CUDA AND NOT AICF_ASAN AND NOT AICF_FUZZ)
  include(CheckLanguage)
  if(CCACHE_PROGRAM AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90a-real 80-virtual)
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(CMAKE_CUDA_STANDARD 17)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(AICF_HAVE_CUDA ON)
  elseif(NOT AICF_ENABLE_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "AICF_ENABLE_CUDA=${AICF_ENABLE_CUDA}, but no nvcc was found")
  endif()
endif()
if(AICF_HAVE_CUDA)
  # Only the header: the library is loaded at run time. scripts/setup.sh puts it
  # into .deps/ where the toolkit has none.
  find_path(CUBLASLT_INCLUDE_DIR NAMES cublasLt.h
    HINTS ${CUDAToolkit_INCLUDE_DIRS} ${PROJECT_SOURCE_DIR}/.deps/nvidia/include)
  message(STATUS "CUDA ${CUDAToolkit_VERSION}, cublasLt.h: ${CUBLASLT_INCLUDE_DIR}")
  if(NOT CUBLASLT_INCLUDE_DIR)
    message(WARNING "No cublasLt.h: the CUDA device is built without the library's "
      "products, and large ones will not run. Install the toolkit's cuBLAS headers "
      "(libcublas-dev-13-0, or pip download nvidia-cublas==13.0.2.14 and unpack its "
      "include/ folder), and name the folder with -DCUBLASLT_INCLUDE_DIR=...")
  endif()
  # The same of cuDNN, its frontend, and nvrtc.h, which that includes.
  set(AICF_CUDNN_INCLUDE_DIRS "")
  foreach(header cudnn.h cudnn_frontend.h nvrtc.h)
    string(MAKE_C_IDENTIFIER ${header} name)
    find_path(AICF_DIR_OF_${name} NAMES ${header}
      HINTS ${CUDAToolkit_INCLUDE_DIRS} ${PROJECT_SOURCE_DIR}/.deps/nvidia/include)
    list(APPEND AICF_CUDNN_INCLUDE_DIRS ${AICF_DIR_OF_${name}})
  endforeach()
  list(REMOVE_DUPLICATES AICF_CUDNN_INCLUDE_DIRS)
  if(AICF_CUDNN_INCLUDE_DIRS MATCHES NOTFOUND)
    set(AICF_CUDNN_INCLUDE_DIRS "")
  endif()
  message(STATUS "cuDNN's headers: ${AICF_CUDNN_INCLUDE_DIRS}")
else()
  message(STATUS "CUDA: not built")
endif()
