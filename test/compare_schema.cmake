# Is lib/Plan/generated/plan_generated.h what flatc makes of plan.fbs?
execute_process(COMMAND ${FLATC} --cpp -o ${WORK} ${FOLDER}/plan.fbs RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "flatc failed on ${FOLDER}/plan.fbs")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${WORK}/plan_generated.h
  ${FOLDER}/generated/plan_generated.h RESULT_VARIABLE differs)
if(differs)
  message(FATAL_ERROR "lib/Plan/generated/plan_generated.h is not of plan.fbs: "
    "build the target update-plan-schema and look at what it changes")
endif()
