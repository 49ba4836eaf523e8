#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

#include "bench/local/progress.h"

namespace holdfast::bench {

namespace {

constexpr std::string_view kEraseLine = "\r\033[K";

}  // namespace

Progress::Progress() : visible_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::show(std::string_view text) const {
  if (visible_) fmt::print(stderr, "{}{}", kEraseLine, text);
}

void Progress::clear() const {
  if (visible_) fmt::print(stderr, "{}", kEraseLine);
}

}  // namespace holdfast::bench
