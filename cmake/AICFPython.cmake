# AICF_PYTHON: a Python with NumPy and pytest, for the tests and, unless
# Python_EXECUTABLE says another, for the package. scripts/setup.sh makes one in
# .deps/python, with nanobind.
set(AICF_PYTHON "" CACHE FILEPATH "Python with numpy and pytest, for the tests")
if(NOT AICF_PYTHON)
  foreach(candidate ${PROJECT_SOURCE_DIR}/.deps/python/bin/python3 /usr/bin/python3 python3)
    execute_process(COMMAND ${candidate} -c "import numpy, pytest"
                    RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
    if(missing EQUAL 0)
      set(AICF_PYTHON ${candidate} CACHE FILEPATH "" FORCE)
      break()
    endif()
  endforeach()
endif()
if(AICF_PYTHON AND NOT Python_EXECUTABLE)
  set(Python_EXECUTABLE ${AICF_PYTHON} CACHE FILEPATH "Python of the package")
endif()
