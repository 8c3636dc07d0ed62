# build_info.cmake - bakes into the program what tree and which compiler it was built from. assay_build_info(<target>) gives the
# target a generated header build_info.h; it is recomputed at every build and rewritten only when something changed.
#
# ASSAY_BUILD_COMMIT         git rev-parse HEAD, or "unknown"
# ASSAY_BUILD_DIRTY          "yes" (changed or untracked files), "no", or "unknown" (no git, not a repository)
# ASSAY_BUILD_SOURCE_SHA256  SHA-256 over the lines "<sha256>  <path>\n" of all tracked files, paths sorted bytewise
# ASSAY_BUILD_SOURCE_DIR, ASSAY_BUILD_BINARY_DIR: where they lay
# ASSAY_BUILD_COMPILER, ASSAY_BUILD_FLAGS, ASSAY_BUILD_TYPE
# ASSAY_BUILD_CUDA           compiler, flags and architectures of the CUDA parts, "none" without them
if(CMAKE_SCRIPT_MODE_FILE AND DEFINED INFO_SOURCE)
  set(commit unknown)
  set(dirty unknown)
  set(source_sha256 unknown)
  find_program(git git)
  if(git)
    # The repository must be this tree: an unpacked archive inside somebody else's repository is not that repository.
    execute_process(COMMAND "${git}" -C "${INFO_SOURCE}" rev-parse --show-prefix OUTPUT_VARIABLE prefix RESULT_VARIABLE rc
                    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(rc EQUAL 0 AND "${prefix}" STREQUAL "")
      execute_process(COMMAND "${git}" -C "${INFO_SOURCE}" rev-parse --verify HEAD OUTPUT_VARIABLE head RESULT_VARIABLE rc
                      ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
      if(rc EQUAL 0)
        set(commit "${head}")
      endif()
      execute_process(COMMAND "${git}" -C "${INFO_SOURCE}" -c core.fsmonitor=false --no-optional-locks status --porcelain
                              --untracked-files=normal OUTPUT_VARIABLE status RESULT_VARIABLE rc ERROR_QUIET)
      if(rc EQUAL 0)
        set(dirty no)
        if(NOT "${status}" STREQUAL "")
          set(dirty yes)
        endif()
      endif()
      execute_process(COMMAND "${git}" -C "${INFO_SOURCE}" -c core.quotePath=false ls-files OUTPUT_VARIABLE files
                      RESULT_VARIABLE rc ERROR_QUIET)
      if(rc EQUAL 0 AND NOT "${files}" STREQUAL "")
        string(REPLACE ";" "\\;" files "${files}")
        string(REGEX REPLACE "\n$" "" files "${files}")
        string(REPLACE "\n" ";" files "${files}")
        list(SORT files)
        set(lines "")
        foreach(path IN LISTS files)
          if(EXISTS "${INFO_SOURCE}/${path}" AND NOT IS_DIRECTORY "${INFO_SOURCE}/${path}")
            file(SHA256 "${INFO_SOURCE}/${path}" sum)
            string(APPEND lines "${sum}  ${path}\n")
          endif()
        endforeach()
        string(SHA256 source_sha256 "${lines}")
      endif()
    endif()
  endif()
  foreach(name INFO_COMPILER INFO_FLAGS INFO_TYPE INFO_CUDA)
    string(REPLACE "\\" "\\\\" ${name} "${${name}}")
    string(REPLACE "\"" "\\\"" ${name} "${${name}}")
  endforeach()
  set(text "/* Generated at each build. */\n#define ASSAY_BUILD_VERSION \"${INFO_VERSION}\"\n")
  string(APPEND text "#define ASSAY_BUILD_COMMIT \"${commit}\"\n#define ASSAY_BUILD_DIRTY \"${dirty}\"\n"
         "#define ASSAY_BUILD_SOURCE_SHA256 \"${source_sha256}\"\n#define ASSAY_BUILD_SOURCE_DIR \"${INFO_SOURCE}\"\n"
         "#define ASSAY_BUILD_BINARY_DIR \"${INFO_BINARY}\"\n"
         "#define ASSAY_BUILD_COMPILER \"${INFO_COMPILER}\"\n#define ASSAY_BUILD_FLAGS \"${INFO_FLAGS}\"\n"
         "#define ASSAY_BUILD_TYPE \"${INFO_TYPE}\"\n"
         "#define ASSAY_BUILD_CUDA \"${INFO_CUDA}\"\n")
  set(old "")
  if(EXISTS "${INFO_OUTPUT}")
    file(READ "${INFO_OUTPUT}" old)
  endif()
  if(NOT "${old}" STREQUAL "${text}")
    file(WRITE "${INFO_OUTPUT}" "${text}")
  endif()
  return()
endif()

function(assay_build_info target)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/build_info")
  get_filename_component(binary "${CMAKE_BINARY_DIR}" REALPATH)
  get_filename_component(root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.." REALPATH)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  get_target_property(options assay_flags INTERFACE_COMPILE_OPTIONS)
  string(REPLACE ";" " " options "${options}")
  string(STRIP "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}} -std=c${CMAKE_C_STANDARD} ${options}" flags)
  set(cuda none)
  if(ASSAY_CUDA)
    string(REPLACE ";" " " architectures "${CMAKE_CUDA_ARCHITECTURES}")
    string(STRIP "${CMAKE_CUDA_COMPILER_ID} ${CMAKE_CUDA_COMPILER_VERSION} ${CMAKE_CUDA_FLAGS} ${CMAKE_CUDA_FLAGS_${type}} ${architectures}" cuda)
  endif()
  add_custom_target(
    assay_build_info_header ALL
    COMMAND "${CMAKE_COMMAND}" "-DINFO_SOURCE=${root}" "-DINFO_BINARY=${binary}"
            "-DINFO_OUTPUT=${folder}/build_info.h"
            "-DINFO_VERSION=${PROJECT_VERSION}" "-DINFO_COMPILER=${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}"
            "-DINFO_FLAGS=${flags}" "-DINFO_TYPE=${CMAKE_BUILD_TYPE}" "-DINFO_CUDA=${cuda}" -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    BYPRODUCTS "${folder}/build_info.h"
    COMMENT "Checking the state of the source tree"
    VERBATIM)
  add_dependencies(${target} assay_build_info_header)
  target_include_directories(${target} PRIVATE "${folder}")
endfunction()
