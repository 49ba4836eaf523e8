# blocks_to_source.awk: prints one C++ source with every ```cpp block of the pages that are given as
# arguments, each in a namespace of its own, under the page's name and line. A block that is, word
# for word, part of a file in EXAMPLES is left out: the tests compile that file.
#
#   awk -v EXAMPLES="a.cc b.cc" -v VERBATIM=README.md -f blocks_to_source.awk README.md docs/guide.md
#
# A block is the body of a function. A comment in front of it supplies what the page leaves out:
#   <!-- given: CODE -->          CODE at namespace scope, then the block as the body of a function
#   <!-- declarations: CODE -->   CODE, then the block, both at namespace scope
#   <!-- page: CODE -->           CODE for every later block of the page
# Every block sees <holdfast/holdfast.h> and std::chrono_literals. Blocks of the page VERBATIM must
# be part of an example.

BEGIN {
  count = split(EXAMPLES, files, " ")
  for (i = 1; i <= count; ++i) {
    while ((getline line < files[i]) > 0) examples = examples line "\n"
    close(files[i])
  }
  includes = "#include <holdfast/holdfast.h>\n"
}

FNR == 1 { end_of_page(); page = FILENAME; page_code = "" }

# A hidden comment, on one line or several.
!in_block && match($0, /^<!-- (given|declarations|page):/) {
  kind = $2
  code = ""
  in_comment = 1
  sub(/^<!-- (given|declarations|page):/, "")
}
in_comment {
  last = sub(/-->.*$/, "")
  code = code line_marker(FNR) without_include($0) "\n"
  if (last) {
    in_comment = 0
    if (kind == "page:") page_code = page_code code
    else { given = code; scope = kind }
  }
  next
}

$0 == "```cpp" { in_block = 1; begins = FNR + 1; block = ""; next }
in_block && $0 == "```" { end_of_block(); next }
in_block { block = block $0 "\n" }
!in_block && $0 != "" && given != "" { die(FNR, "a comment for a block, and no block below it") }

END {
  end_of_page()
  if (failed) exit 1
  print includes "\n" source
}

function line_marker(number) { return "#line " number " \"" page "\"\n" }

# Collects an include for the top of the source; any other line is returned as it is.
function without_include(text) {
  if (text !~ /^ *#include /) return text
  if (index(includes, text "\n") == 0) includes = includes text "\n"
  return ""
}

function end_of_block(   body, lines, total, i) {
  in_block = 0
  if (index(examples, block) == 0) {
    if (page == VERBATIM) die(begins, "this block is in no example")
    total = split(block, lines, "\n")
    for (i = 1; i < total; ++i) body = body without_include(lines[i]) "\n"
    ++blocks
    source = source "namespace block_" blocks " {\nusing namespace std::chrono_literals;\n" page_code given
    if (scope == "declarations:") source = source line_marker(begins) body
    else if (body ~ /co_(await|return)/) source = source "boost::asio::awaitable<void> block() {\n" line_marker(begins) body "}\n"
    else source = source "inline auto block() {\n" line_marker(begins) body "}\n"
    source = source "}  // namespace block_" blocks "\n"
  }
  given = ""
  scope = ""
}

function end_of_page() { if (in_block || in_comment) die(begins, "a block or comment without an end") }

function die(number, text) {
  print page ":" number ": " text > "/dev/stderr"
  failed = 1
  exit 1
}
