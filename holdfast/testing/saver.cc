#include <holdfast/testing/saver.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::testing {

namespace {

using base::FencingToken;
using store::Batch;
using store::ObjectSave;

constexpr int kUsage = 64;

ObjectSave save_of(const std::string& type, int object, int number, int token) {
  return {.key = {.type = type, .id = std::to_string(object)},
          .data = std::to_string(number),
          .token = FencingToken(static_cast<std::uint64_t>(token))};
}

std::vector<ObjectSave> saves_of(const std::string& type, int number, Batch batch) {
  if (batch == Batch::each) {
    return {save_of(type, number, number, 1)};
  }
  std::vector<ObjectSave> saves;
  for (int object = 0; object < kSavedTogether; ++object) {
    saves.push_back(save_of(type, object, number, number));
  }
  return saves;
}

void say(const std::string& line) { std::cout << line << '\n' << std::flush; }

int say_failed(std::string_view why) {
  say("failed " + std::string(why));
  return EXIT_FAILURE;
}

}  // namespace

int saver_main(int argc, char** argv, const OpenRepository& open) {
  const std::vector<std::string> words(argv, argv + argc);
  if (words.size() != 4 || (words[3] != "one_by_one" && words[3] != "together")) {
    std::cerr << "usage: saver URL TYPE one_by_one|together\n";
    return kUsage;
  }
  const Batch batch = words[3] == "together" ? Batch::all_or_none : Batch::each;
  const auto repository = open(words[1]);
  if (!repository) {
    return say_failed(base::to_string(repository.error().code));
  }
  for (int number = 1;; ++number) {
    const auto outcomes = (*repository)->save(saves_of(words[2], number, batch), batch);
    if (!outcomes) {
      return say_failed(base::to_string(outcomes.error().code));
    }
    if (std::ranges::count(*outcomes, store::SaveOutcome(store::Saved{})) !=
        static_cast<std::ptrdiff_t>(outcomes->size())) {
      return say_failed("refused");
    }
    say("saved " + std::to_string(number));
  }
}

}  // namespace holdfast::testing
