# holdfast_embed_sql(<header> NAMESPACE <namespace> FILES <file.sql>...)
#
# Writes a header with a constant for each statement. A statement begins with a comment line
# `-- kName`, which may go on with anything, and ends where the next one begins.
function(holdfast_embed_sql header)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAMESPACE" "FILES")
  set(constants "")
  foreach(file IN LISTS arg_FILES)
    set_property(
      DIRECTORY
      APPEND
      PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" sql)
    string(REGEX REPLACE "(^|\n)-- (k[A-Z][A-Za-z]*)[^\n]*\n"
                         ")sql\";\n\ninline constexpr char \\2[] = R\"sql(" sql "\n${sql}")
    # What comes before the first statement is the end of one that is not there.
    string(REGEX REPLACE "^\n*\\)sql\";\n" "" sql "${sql}")
    string(APPEND constants "${sql})sql\";\n")
  endforeach()
  file(
    CONFIGURE
    OUTPUT "${header}"
    CONTENT
      "// Made from .sql files by HoldfastEmbedSql.cmake.\n#pragma once\n\nnamespace ${arg_NAMESPACE} {\n${constants}\n}  // namespace ${arg_NAMESPACE}\n"
    @ONLY)
endfunction()
