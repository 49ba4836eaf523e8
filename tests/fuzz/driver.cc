// Runs a fuzz target without libFuzzer: every input of the folders and files that are named, and
// then variations of them, as many as HOLDFAST_FUZZ_ROUNDS says (10,000), for HOLDFAST_FUZZ_SECONDS
// (1) at most. HOLDFAST_FUZZ_SEED chooses other variations. An input that ends the program is
// shown, and kept in the file crash-input.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <tests/fuzz/fuzz.h>
#include <tests/fuzz/mutate.h>

// A sanitizer that finds something ends the program by itself.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

namespace fs = std::filesystem;

std::string current;  // the input that is being run

void show_current() {
  std::fputs("the input, also in crash-input: \"", stderr);
  for (const char c : current) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\';
    plain ? std::fprintf(stderr, "%c", byte) : std::fprintf(stderr, "\\x%02x", byte);
  }
  std::fputs("\"\n", stderr);
  if (std::FILE* const file = std::fopen("crash-input", "wb")) {
    std::fwrite(current.data(), 1, current.size(), file);
    std::fclose(file);
  }
}

void on_signal(int signal) {
  std::signal(signal, SIG_DFL);
  show_current();
  std::raise(signal);
}

unsigned long long number(const char* variable, unsigned long long otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

void add_file(const fs::path& path, std::vector<std::string>& inputs) {
  std::ifstream file(path, std::ios::binary);
  inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

std::vector<std::string> read_inputs(int count, char** paths) {
  std::vector<std::string> inputs;
  for (int i = 0; i < count; ++i) {
    if (!fs::is_directory(paths[i])) {
      add_file(paths[i], inputs);
      continue;
    }
    std::vector<fs::path> files;
    std::ranges::copy(fs::directory_iterator(paths[i]), std::back_inserter(files));
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      add_file(file, inputs);
    }
  }
  return inputs;
}

void run(std::string input) {
  current = std::move(input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(show_current);
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) {
    std::signal(signal, on_signal);
  }
  std::vector<std::string> inputs = read_inputs(argc - 1, argv + 1);
  if (inputs.empty()) {
    std::fputs("name files or folders with inputs\n", stderr);
    return 2;
  }
  for (const std::string& input : inputs) {
    run(input);
  }
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(number("HOLDFAST_FUZZ_SECONDS", 1));
  std::mt19937_64 random(number("HOLDFAST_FUZZ_SEED", 1));
  unsigned long long rounds = number("HOLDFAST_FUZZ_ROUNDS", 10'000);
  inputs.emplace_back();
  unsigned long long done = 0;
  for (; done < rounds && Clock::now() < end; ++done) {
    run(holdfast::fuzz::mutate(inputs, random));
  }
  std::printf("%zu inputs and %llu variations of them\n", inputs.size() - 1, done);
  return 0;
}
