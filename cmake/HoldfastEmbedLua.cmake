# holdfast_embed_lua(<header> TYPE_HEADER <header.h> NAMESPACE <namespace> COMMON <file.lua>
#   SCRIPTS <file.lua>...)
#
# Writes a header with a constant `kName` for each script `name.lua`: its text, with the common file
# in front, and the SHA-1 by which the server knows it. A line `#!lua ...` stays the first. The
# constants are of the type `Script` of TYPE_HEADER: two texts, the SHA-1 and the script. `kCommon` is
# the common file's text alone.
function(holdfast_embed_lua header)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TYPE_HEADER;NAMESPACE;COMMON" "SCRIPTS")
  file(READ "${arg_COMMON}" common)
  set(constants "inline constexpr std::string_view kCommon = R\"lua(${common})lua\";\n\n")
  foreach(file IN LISTS arg_SCRIPTS)
    file(READ "${file}" body)
    set(flags "")
    if(body MATCHES "^(#![^\n]*\n)")
      set(flags "${CMAKE_MATCH_1}")
      string(LENGTH "${flags}" length)
      string(SUBSTRING "${body}" ${length} -1 body)
    endif()
    set(text "${flags}${common}${body}")
    string(SHA1 sha "${text}")
    cmake_path(GET file STEM name)
    string(SUBSTRING "${name}" 0 1 initial)
    string(SUBSTRING "${name}" 1 -1 rest)
    string(TOUPPER "${initial}" initial)
    string(APPEND constants
           "inline constexpr Script k${initial}${rest}{\n    \"${sha}\",\n    R\"lua(${text})lua\"};\n\n")
  endforeach()
  set_property(
    DIRECTORY
    APPEND
    PROPERTY CMAKE_CONFIGURE_DEPENDS "${arg_COMMON}" ${arg_SCRIPTS})
  file(
    CONFIGURE
    OUTPUT "${header}"
    CONTENT
      "// Made from .lua files by HoldfastEmbedLua.cmake.\n#pragma once\n\n#include <string_view>\n\n#include <${arg_TYPE_HEADER}>\n\nnamespace ${arg_NAMESPACE} {\n\n${constants}}  // namespace ${arg_NAMESPACE}\n"
    @ONLY)
endfunction()
