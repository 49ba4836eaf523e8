# holdfast_embed_page(<header> TYPE_HEADER <header.h> NAMESPACE <namespace> OPENAPI <file.json> FOLDER <folder> FILES <file>...)
#
# Writes a header with an array `kPageFiles` of a page's files, of the type `PageFile` of TYPE_HEADER: the path in the URL, the
# content type, a tag that changes with the text, and the text; and with `kOpenapi`, the text of a file in which @PROJECT_VERSION@
# stands for the version. `index.html` is at the path `/`.
function(holdfast_embed_page header)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TYPE_HEADER;NAMESPACE;OPENAPI;FOLDER" "FILES")
  set(type_of_html "text/html; charset=utf-8")
  set(type_of_css "text/css; charset=utf-8")
  set(type_of_js "text/javascript; charset=utf-8")
  set(type_of_svg "image/svg+xml")
  set(entries "")
  foreach(name IN LISTS arg_FILES)
    file(READ "${arg_FOLDER}/${name}" text)
    string(FIND "${text}" ")page\"" end)
    string(REGEX MATCH "@[A-Za-z_]+@" variable "${text}")
    if(NOT end EQUAL -1 OR variable)
      message(FATAL_ERROR "${name} cannot be embedded: it has )page\" or ${variable}")
    endif()
    string(SHA1 tag "${text}")
    cmake_path(GET name EXTENSION LAST_ONLY extension)
    string(SUBSTRING "${extension}" 1 -1 extension)
    set(path "/${name}")
    if(name STREQUAL "index.html")
      set(path "/")
    endif()
    string(APPEND entries "    {\"${path}\", \"${type_of_${extension}}\", \"${tag}\", R\"page(${text})page\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${arg_FOLDER}/${name}")
  endforeach()
  file(READ "${arg_OPENAPI}" openapi)
  string(REPLACE "@PROJECT_VERSION@" "${PROJECT_VERSION}" openapi "${openapi}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${arg_OPENAPI}")
  file(
    CONFIGURE
    OUTPUT "${header}"
    CONTENT
      "// Made from the files of the page by HoldfastEmbedPage.cmake.\n#pragma once\n\n#include <string_view>\n\n#include \"${arg_TYPE_HEADER}\"\n\nnamespace ${arg_NAMESPACE} {\n\ninline constexpr PageFile kPageFiles[] = {\n${entries}};\n\ninline constexpr std::string_view kOpenapi = R\"page(${openapi})page\";\n\n}  // namespace ${arg_NAMESPACE}\n"
    @ONLY)
endfunction()
