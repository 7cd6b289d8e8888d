# The committed ABI files are what aicf-tblgen generates now.
foreach(pair "Ops.h|include/aicf/Ops.h"
    "OpViews.h|lib/Ops/OpViews.h" "Patterns.inc|lib/Ops/Patterns.inc"
    "Functors.h|kernels/pointwise/Functors.h"
    "Scalars.inc|kernels/graph/Scalars.inc" "Rows.def|kernels/Rows.def" "Definitions.inc|kernels/Definitions.inc"
    "op_attrs.py|python/aicf/op_attrs.py"
    "records.py|test/python/fuzz/records.py" "ops.py|python/aicf/ops.py")
  string(REPLACE "|" ";" pair ${pair})
  list(GET pair 0 generated)
  list(GET pair 1 committed)
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files
    ${GENERATED}/${generated} ${SOURCE}/${committed} RESULT_VARIABLE differs)
  if(differs)
    message(FATAL_ERROR "${committed} is out of date: run "
      "`cmake --build build --target update-abi`")
  endif()
endforeach()
