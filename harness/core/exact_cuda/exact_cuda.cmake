# exact_cuda.cmake - what promises exact CUDA arithmetic is built only when all compiler options are known to leave it exact. One
# predicate (exact_math.c) decides, here whether such targets exist (ASSAY_EXACT_CUDA) and before every compilation whether it goes
# on, with ASSAY_EXACT_MATH defined.
set(ASSAY_EXACT_CUDA OFF)
if(NOT ASSAY_CUDA)
  return()
endif()
set(exact_sources ${CMAKE_CURRENT_LIST_DIR}/launcher.c ${CMAKE_CURRENT_LIST_DIR}/../exact_math.c)
set(ASSAY_EXACT_LAUNCHER ${CMAKE_BINARY_DIR}/exact_cuda)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${exact_sources} ${CMAKE_CURRENT_LIST_DIR}/../exact_math.h)
unset(exact_built CACHE)
try_compile(exact_built ${CMAKE_BINARY_DIR}/exact_cuda.dir SOURCES ${exact_sources}
            COMPILE_DEFINITIONS -D_GNU_SOURCE -I${CMAKE_CURRENT_LIST_DIR}/..
            C_STANDARD 17 OUTPUT_VARIABLE exact_log COPY_FILE ${ASSAY_EXACT_LAUNCHER})
if(NOT exact_built)
  message(FATAL_ERROR "the guard of exact CUDA arithmetic does not compile:\n${exact_log}")
endif()

set(ASSAY_EXACT_CUDA ON)
# Asks about the environment, or about the options that a variable holds; the first "no" stands.
function(assay_exact_ask)
  if(NOT ASSAY_EXACT_CUDA)
    return()
  elseif(ARGC EQUAL 0)
    execute_process(COMMAND ${ASSAY_EXACT_LAUNCHER} --environment RESULT_VARIABLE code OUTPUT_VARIABLE reason OUTPUT_STRIP_TRAILING_WHITESPACE)
  else()
    execute_process(COMMAND ${ASSAY_EXACT_LAUNCHER} --options ${ARGV0} "${${ARGV0}}" RESULT_VARIABLE code OUTPUT_VARIABLE reason
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  if(NOT code EQUAL 0)
    message(WARNING "CUDA kernels and judge that promise exact arithmetic are left out: ${reason}")
    set(ASSAY_EXACT_CUDA OFF PARENT_SCOPE)
  endif()
endfunction()
string(TOUPPER "${CMAKE_BUILD_TYPE}" exact_type)
assay_exact_ask()
assay_exact_ask(CMAKE_CUDA_FLAGS)
assay_exact_ask(CMAKE_CUDA_FLAGS_${exact_type})

# assay_exact_cuda(targets...): their CUDA sources are compiled through the guard.
function(assay_exact_cuda)
  foreach(target ${ARGN})
    set_property(TARGET ${target} PROPERTY CUDA_COMPILER_LAUNCHER ${ASSAY_EXACT_LAUNCHER} ${CMAKE_CUDA_COMPILER_LAUNCHER})
  endforeach()
endfunction()
