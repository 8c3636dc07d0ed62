# package.cmake - what `cmake --install` and CPack put where. Included at the end of the root CMakeLists.txt.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_CURRENT_LIST_DIR})
set(package_out ${CMAKE_BINARY_DIR}/package)

# The manual page is what the program says about itself.
set(man_page ${package_out}/assay.1)
add_custom_command(OUTPUT ${man_page} COMMAND ${CMAKE_COMMAND} -E make_directory ${package_out}
                   COMMAND assay help --man > ${man_page} DEPENDS assay COMMENT "Writing assay.1" VERBATIM)
add_custom_target(man ALL DEPENDS ${man_page})
install(FILES ${man_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES README.md LICENSE harness/PROTOCOL.md harness/DIGEST.md harness/GENERATOR.md harness/THREATS.md
              suites/CONTRACT.md evidence/LOG.md evidence/schema.sql DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(PROGRAMS impls/python_stdlib/adapter.py DESTINATION ${CMAKE_INSTALL_LIBDIR}/assay/impls/python_stdlib)
install(FILES impls/shims/assay_shim.py DESTINATION ${CMAKE_INSTALL_LIBDIR}/assay/impls)
install(PROGRAMS impls/shims/torch_cuda/adapter.py DESTINATION ${CMAKE_INSTALL_LIBDIR}/assay/impls/torch_cuda)

# find_package(assay): the target assay::adapter for adapters, assay_add_adapter(), ASSAY_PROGRAM.
add_library(assay_adapter_interface INTERFACE)
set_target_properties(assay_adapter_interface PROPERTIES EXPORT_NAME adapter)
target_include_directories(assay_adapter_interface INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set(package_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
install(TARGETS assay_adapter_interface EXPORT assay)
install(EXPORT assay NAMESPACE assay:: FILE assay-targets.cmake DESTINATION ${package_cmake_dir})
configure_package_config_file(${package_dir}/assay-config.cmake.in ${package_out}/assay-config.cmake
                              INSTALL_DESTINATION ${package_cmake_dir} PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${package_out}/assay-config-version.cmake COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${package_out}/assay-config.cmake ${package_out}/assay-config-version.cmake DESTINATION ${package_cmake_dir})

# pkg-config: paths are relative to the file, so that a moved tree still works.
file(RELATIVE_PATH package_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(${package_dir}/assay.pc.in ${package_out}/assay.pc @ONLY)
install(FILES ${package_out}/assay.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_CONTACT "Assay maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "judge numeric kernels promise by promise, from outside their process")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES OFF) # the hash of a binary is its identity in evidence
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox, git, libdlpack-dev, python3")
include(CPack)

if(ASSAY_BUNDLE)
  include(${CMAKE_CURRENT_LIST_DIR}/bundle.cmake)
endif()
