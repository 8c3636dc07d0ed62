# embed.cmake - puts a file into a program at build time. Include it, then call
#
#   assay_embed(<target> <symbol> <file>)
#
# which adds to <target> a generated C file that defines, and a generated header <symbol>.h that declares,
#
#   extern const char <symbol>[];          the bytes of the file, and a NUL after the last
#   extern const size_t <symbol>_bytes;    without that NUL
#
# The header's folder joins the target's private include path. The target must belong to the calling folder. Any byte is
# allowed in the file. Run as a script (cmake -P) the same file does the conversion.
if(CMAKE_SCRIPT_MODE_FILE AND DEFINED EMBED_INPUT)
  file(READ "${EMBED_INPUT}" hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR bytes "${digits} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  # Character constants keep bytes above 127 free of conversion warnings.
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1', " body "${hex}")
  file(WRITE "${EMBED_OUTPUT}.tmp"
       "#include \"${EMBED_SYMBOL}.h\"\n\nconst char ${EMBED_SYMBOL}[] = {\n${body}'\\0'};\n"
       "const size_t ${EMBED_SYMBOL}_bytes = ${bytes};\n")
  file(RENAME "${EMBED_OUTPUT}.tmp" "${EMBED_OUTPUT}")
  return()
endif()

function(assay_embed target symbol file)
  get_filename_component(input "${file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/embedded")
  set(output "${folder}/${symbol}.c")
  file(CONFIGURE OUTPUT "${folder}/${symbol}.h" CONTENT
"/* Generated from ${file}. */
#ifndef ASSAY_EMBEDDED_${symbol}_H
#define ASSAY_EMBEDDED_${symbol}_H
#include <stddef.h>
extern const char ${symbol}[];
extern const size_t ${symbol}_bytes;
#endif
")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DEMBED_INPUT=${input}" "-DEMBED_OUTPUT=${output}" "-DEMBED_SYMBOL=${symbol}" -P
            "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    DEPENDS "${input}" "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    COMMENT "Embedding ${file}"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
  target_include_directories(${target} PRIVATE "${folder}")
endfunction()
