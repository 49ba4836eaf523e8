# holdfast_embed_json(<header> NAMESPACE <namespace> FILES <file.json>...)
#
# Writes a header with a constant `kName` for each `name.json`: its text.
function(holdfast_embed_json header)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAMESPACE" "FILES")
  set(constants "")
  foreach(file IN LISTS arg_FILES)
    file(READ "${file}" text)
    cmake_path(GET file STEM name)
    string(SUBSTRING "${name}" 0 1 initial)
    string(SUBSTRING "${name}" 1 -1 rest)
    string(TOUPPER "${initial}" initial)
    string(APPEND constants
           "inline constexpr std::string_view k${initial}${rest} = R\"json(${text})json\";\n\n")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${arg_FILES})
  file(
    CONFIGURE
    OUTPUT "${header}"
    CONTENT
      "// Made from .json files by embed_json.cmake.\n#pragma once\n\n#include <string_view>\n\nnamespace ${arg_NAMESPACE} {\n\n${constants}}  // namespace ${arg_NAMESPACE}\n"
    @ONLY)
endfunction()
