#pragma once

#include <span>

#include "bench/local/row.h"
#include "bench/local/workload.h"

namespace holdfast::bench {

// True if the figures are compared with the targets.
enum class Judging { off, on };

// Prints a workload's figures for people, on stdout.
void print_table(const Workload& workload, std::span<const Row> rows, Judging judging);

// Prints which of the measured targets are reached.
void print_summary(std::span<const Row> rows);

// Prints all figures for programs, on stdout: an array with a line per row.
void print_json(std::span<const Row> rows);

}  // namespace holdfast::bench
