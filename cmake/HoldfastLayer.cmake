include(GNUInstallDirs)
include(HoldfastTests)

# holdfast_layer(<layer>
#   HEADERS <file>...            installed as <holdfast/<layer>/...>; internal/ ones that public
#                                templates need belong here too
#   SOURCES <file>...
#   [DEPENDS <layer>...]         layers it uses, which cmake/layers.txt must allow
#   [PACKAGES <package>...]      what find_package() must find for LINKS, here and at a consumer's;
#                                with a version in quotes: "Boost 1.77"
#   [LINKS <target>...]          third-party targets to link
#   [PKG_CONFIG_LIBS <flag>...]  the same for pkg-config
#   [TESTS <file>...]            become one program, and tests named `<layer>.<Suite>`
#   [ALONE <suite>...])          of the tests, as for holdfast_tests()
#
# Makes the library holdfast_<layer>, known here and after installation as holdfast::<layer>. A part
# of a layer with a library of its own is named by its path: engines/memory becomes
# holdfast::engines_memory, and its tests `engines.memory.<Suite>`.
function(holdfast_layer path)
  cmake_parse_arguments(
    PARSE_ARGV 1 arg "" "" "HEADERS;SOURCES;DEPENDS;PACKAGES;LINKS;PKG_CONFIG_LIBS;TESTS;ALONE")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "holdfast_layer(${path}): unexpected ${arg_UNPARSED_ARGUMENTS}")
  endif()
  _holdfast_check_depends(${path} ${arg_DEPENDS})
  string(REPLACE "/" "_" layer "${path}")
  string(REPLACE "/" "." test_prefix "${path}")
  list(TRANSFORM arg_DEPENDS REPLACE "/" "_")

  set(target holdfast_${layer})
  add_library(${target} ${arg_SOURCES})
  add_library(holdfast::${layer} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}"
                                                   FILES ${arg_HEADERS})
  list(TRANSFORM arg_DEPENDS PREPEND holdfast_ OUTPUT_VARIABLE layer_targets)
  target_link_libraries(${target} PUBLIC ${layer_targets} ${arg_LINKS})
  holdfast_compile_options(${target})
  # Until 1.0 a minor version may break the ABI. A shared layer finds the others beside it.
  set_target_properties(
    ${target}
    PROPERTIES EXPORT_NAME ${layer}
               VERSION ${PROJECT_VERSION}
               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
               INSTALL_RPATH "$ORIGIN")

  if(HOLDFAST_INSTALL)
    holdfast_install_layer(
      ${layer}
      DEPENDS ${arg_DEPENDS}
      PACKAGES ${arg_PACKAGES}
      PKG_CONFIG_LIBS ${arg_PKG_CONFIG_LIBS})
  endif()

  if(HOLDFAST_BUILD_TESTS AND arg_TESTS)
    add_executable(${target}_test ${arg_TESTS})
    target_link_libraries(${target}_test PRIVATE holdfast::${layer} GTest::gtest_main)
    holdfast_tests(${target}_test PREFIX ${test_prefix}. ALONE ${arg_ALONE})
  endif()
endfunction()

# Stops the configuration when cmake/layers.txt does not allow ${path} to use the layers in ARGN.
function(_holdfast_check_depends path)
  string(REGEX REPLACE "/.*" "" layer "${path}")
  set(table "${PROJECT_SOURCE_DIR}/cmake/layers.txt")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
  file(STRINGS "${table}" row REGEX "^${layer}:")
  if(NOT row)
    message(FATAL_ERROR "Layer '${layer}' is not in cmake/layers.txt")
  endif()
  string(REGEX REPLACE "^${layer}:" "" allowed "${row}")
  separate_arguments(allowed)
  list(APPEND allowed ${layer})
  foreach(dependency IN LISTS ARGN)
    string(REGEX REPLACE "/.*" "" dependency_layer "${dependency}")
    if(NOT dependency_layer IN_LIST allowed)
      message(FATAL_ERROR "Layer '${path}' may not use '${dependency}': see cmake/layers.txt")
    endif()
  endforeach()
endfunction()
