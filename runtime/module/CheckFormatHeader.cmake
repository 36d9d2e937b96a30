# Fails when Format_generated.h is not what flatc makes of Format.fbs.
execute_process(
  COMMAND "${FLATC}" --cpp --cpp-std c++17 --scoped-enums --no-prefix
          -o "${WORK_DIR}" "${SOURCE_DIR}/Format.fbs"
  RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "flatc rejects Format.fbs")
endif()
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E compare_files
          "${WORK_DIR}/Format_generated.h" "${SOURCE_DIR}/Format_generated.h"
  RESULT_VARIABLE differs)
if(differs)
  message(FATAL_ERROR
    "Format_generated.h is out of date: run flatc as Format.fbs says")
endif()
