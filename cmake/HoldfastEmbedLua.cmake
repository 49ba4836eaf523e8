# holdfast_embed_lua(<header> TYPE_HEADER <header.h> NAMESPACE <namespace> SCRIPTS <file.lua>...
#                    CONSTANTS <Name=value>...)
#
# Writes a header with a constant `kName` for each script `name.lua`: its text, and the SHA-1 by which
# the server knows it. A line `-- include other.lua` stands for that file, of the same folder. The
# constants are of the type `Script` of TYPE_HEADER: two texts, the SHA-1 and the script.
#
# `@Name@` in a script stands for the value of that name in CONSTANTS, which the header has as `kName`, too: a
# number or a text.
function(holdfast_embed_lua header)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TYPE_HEADER;NAMESPACE" "SCRIPTS;CONSTANTS")
  set(constants "")
  foreach(constant IN LISTS arg_CONSTANTS)
    string(REGEX MATCH "^([A-Za-z]+)=(.*)$" ignored "${constant}")
    set(name "${CMAKE_MATCH_1}")
    set(value_of_${name} "${CMAKE_MATCH_2}")
    list(APPEND names "${name}")
    if("${CMAKE_MATCH_2}" MATCHES "^[0-9]+$")
      string(APPEND constants "inline constexpr std::int64_t k${name} = ${value_of_${name}};\n")
    else()
      string(APPEND constants "inline constexpr std::string_view k${name} = \"${value_of_${name}}\";\n")
    endif()
  endforeach()
  string(APPEND constants "\n")
  set(files ${arg_SCRIPTS})
  foreach(file IN LISTS arg_SCRIPTS)
    cmake_path(GET file PARENT_PATH folder)
    file(READ "${file}" text)
    while(text MATCHES "-- include ([a-z_]+[.]lua)\n")
      set(line "${CMAKE_MATCH_0}")
      set(included "${folder}/${CMAKE_MATCH_1}")
      file(READ "${included}" part)
      string(REPLACE "${line}" "${part}" text "${text}")
      list(APPEND files "${included}")
    endwhile()
    foreach(name IN LISTS names)
      string(REPLACE "@${name}@" "${value_of_${name}}" text "${text}")
    endforeach()
    # What would not reach the server as it is written.
    if(text MATCHES "-- include|@[A-Za-z_]+@")
      message(FATAL_ERROR "${file}: cannot be embedded because of '${CMAKE_MATCH_0}'")
    endif()
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
    PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  file(
    CONFIGURE
    OUTPUT "${header}"
    CONTENT
      "// Made from .lua files by HoldfastEmbedLua.cmake.\n#pragma once\n\n#include <cstdint>\n#include <string_view>\n\n#include <${arg_TYPE_HEADER}>\n\nnamespace ${arg_NAMESPACE} {\n\n${constants}}  // namespace ${arg_NAMESPACE}\n"
    @ONLY)
endfunction()
