# The installed package: one component, one export set and one pkg-config file per layer, so that
# a consumer of `local` never has to have what another layer needs.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(HOLDFAST_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/holdfast")

# holdfast_install_layer(<layer> [DEPENDS ...] [PACKAGES ...] [PKG_CONFIG_LIBS ...]), with the
# arguments of holdfast_layer().
function(holdfast_install_layer layer)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;PACKAGES;PKG_CONFIG_LIBS")
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_INSTALLED_LAYERS ${layer})

  install(
    TARGETS holdfast_${layer}
    EXPORT holdfast-${layer}-targets
    FILE_SET HEADERS)
  install(
    EXPORT holdfast-${layer}-targets
    NAMESPACE holdfast::
    DESTINATION "${HOLDFAST_INSTALL_CMAKEDIR}")

  set(find_dependencies "")
  foreach(package IN LISTS arg_PACKAGES)
    string(APPEND find_dependencies "find_dependency(${package})\n")
  endforeach()
  set(include_depends "")
  foreach(dependency IN LISTS arg_DEPENDS)
    string(APPEND include_depends
           "include(\"\${CMAKE_CURRENT_LIST_DIR}/holdfast-${dependency}.cmake\")\n")
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/holdfast-component.cmake.in" holdfast-${layer}.cmake
                 @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/holdfast-${layer}.cmake"
          DESTINATION "${HOLDFAST_INSTALL_CMAKEDIR}")

  # Relative to the .pc file where possible: the folder may be moved after installation.
  set(pkg_config_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
  else()
    file(RELATIVE_PATH up "/${pkg_config_dir}" "/")
    string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${up}")
  endif()
  set(pc_libdir "\${prefix}")
  cmake_path(APPEND pc_libdir "${CMAKE_INSTALL_LIBDIR}")
  set(pc_includedir "\${prefix}")
  cmake_path(APPEND pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
  list(TRANSFORM arg_DEPENDS REPLACE "(.+)" "holdfast-\\1 = ${PROJECT_VERSION}" OUTPUT_VARIABLE
                                                                               pc_requires)
  list(JOIN pc_requires ", " pc_requires)
  list(JOIN arg_PKG_CONFIG_LIBS " " pc_libs)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/holdfast-layer.pc.in" holdfast-${layer}.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/holdfast-${layer}.pc" DESTINATION "${pkg_config_dir}")
endfunction()

# What the layers share. Call it after the last layer.
function(holdfast_install_package)
  get_property(layers GLOBAL PROPERTY HOLDFAST_INSTALLED_LAYERS)
  configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/holdfast-config.cmake.in" holdfast-config.cmake
    INSTALL_DESTINATION "${HOLDFAST_INSTALL_CMAKEDIR}"
    NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
  # Until 1.0 a minor version may break the API.
  write_basic_package_version_file(holdfast-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/holdfast-config.cmake"
                "${CMAKE_CURRENT_BINARY_DIR}/holdfast-config-version.cmake"
          DESTINATION "${HOLDFAST_INSTALL_CMAKEDIR}")
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
endfunction()
