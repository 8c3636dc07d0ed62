# bundle.cmake - a folder and a tarball that run on another machine: <build>/assay-<version>-<system>/ and .tar.gz.
#
# As a script (cmake -P) it writes the manifest: the SHA-256 of every implementation of the bundle.
if(CMAKE_SCRIPT_MODE_FILE AND DEFINED MANIFEST_OUTPUT)
  file(GLOB_RECURSE files "${MANIFEST_IMPLS}/*.so" "${MANIFEST_SCRIPTS}/*/adapter.py" "${MANIFEST_SCRIPTS}/shims/*.py")
  list(SORT files)
  set(lines "")
  foreach(file IN LISTS files)
    file(SHA256 "${file}" sum)
    get_filename_component(name "${file}" NAME)
    string(APPEND lines "${sum}  ${name}\n")
  endforeach()
  file(WRITE "${MANIFEST_OUTPUT}" "${lines}")
  return()
endif()

set(manifest ${CMAKE_BINARY_DIR}/package/manifest.txt)
get_property(implementations GLOBAL PROPERTY ASSAY_IMPLEMENTATIONS)
add_custom_command(OUTPUT ${manifest}
                   COMMAND ${CMAKE_COMMAND} -DMANIFEST_OUTPUT=${manifest} -DMANIFEST_IMPLS=${CMAKE_BINARY_DIR}/impls
                           -DMANIFEST_SCRIPTS=${CMAKE_SOURCE_DIR}/impls -P ${CMAKE_CURRENT_LIST_FILE}
                   DEPENDS ${implementations} COMMENT "Hashing the implementations of the bundle" VERBATIM)
add_library(assay_bundle_manifest OBJECT)
assay_embed(assay_bundle_manifest assay_manifest ${manifest})
target_link_libraries(assay PRIVATE assay_bundle_manifest)

set(bundle_name assay-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
add_custom_target(bundle
                  COMMAND ${CMAKE_COMMAND} -E rm -rf ${bundle_name}
                  COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --prefix ${CMAKE_BINARY_DIR}/${bundle_name}
                  COMMAND ${CMAKE_COMMAND} -E tar czf ${bundle_name}.tar.gz ${bundle_name}
                  WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM COMMENT "Packing ${bundle_name}.tar.gz")
# Everything that is built by default, as `install` may want any of it. The build tool's own "all" cannot be depended on.
function(bundle_needs folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    get_target_property(left_out ${target} EXCLUDE_FROM_ALL)
    if(type MATCHES "EXECUTABLE|LIBRARY" AND NOT type STREQUAL "INTERFACE_LIBRARY" AND NOT left_out)
      add_dependencies(bundle ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(sub ${folders})
    bundle_needs(${sub})
  endforeach()
endfunction()
add_dependencies(bundle man)
bundle_needs(${CMAKE_SOURCE_DIR})
