#include <tests/fuzz/mutate.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace holdfast::fuzz {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t kLongestInput = 4096;
constexpr std::size_t kLongestPiece = 64;

// Bytes and numbers at which readers go wrong.
constexpr std::array kAwkward = {"\0"sv,
                                 "\x7f"sv,
                                 "\x80"sv,
                                 "\xff"sv,
                                 "\xff\xff\xff\xff"sv,
                                 "\0\0\0\0\0\0\0\x80"sv,
                                 "\xff\xff\xff\xff\xff\xff\xff\x7f"sv,
                                 "-1"sv,
                                 "4294967296"sv,
                                 "9223372036854775807"sv,
                                 "-9223372036854775808"sv,
                                 "18446744073709551615"sv,
                                 "18446744073709551616"sv,
                                 "1e308"sv,
                                 "%"sv,
                                 "%00"sv,
                                 "\033["sv,
                                 "\r\n"sv,
                                 "\xe2\x80\xae"sv,
                                 "\xc2\x9b"sv,
                                 "\xed\xa0\x80"sv};

class Mutation {
 public:
  Mutation(const std::vector<std::string>& inputs, std::mt19937_64& random)
      : inputs_(inputs), random_(random), bytes_(any_input()) {}

  std::string run() {
    for (std::size_t left = 1 + below(4); left > 0; --left) {
      change();
    }
    bytes_.resize(std::min(bytes_.size(), kLongestInput));
    return std::move(bytes_);
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  const std::string& any_input() { return inputs_[below(inputs_.size())]; }
  std::string_view any_piece(std::string_view of) {
    return of.substr(below(of.size() + 1), below(kLongestPiece));
  }

  void change() {
    const std::size_t place = below(bytes_.size() + 1);
    switch (below(7)) {
      case 0:
        if (place < bytes_.size()) {
          bytes_[place] = static_cast<char>(bytes_[place] ^ (1 << below(8)));
        }
        break;
      case 1:
        if (place < bytes_.size()) {
          bytes_[place] = static_cast<char>(random_());
        }
        break;
      case 2: bytes_.erase(place, below(kLongestPiece)); break;
      case 3: bytes_.insert(place, std::string(any_piece(bytes_))); break;
      case 4: bytes_.insert(place, any_piece(any_input())); break;
      case 5: {
        const std::string_view awkward = kAwkward[below(kAwkward.size())];
        bytes_.replace(place, below(2) * awkward.size(), awkward);
        break;
      }
      default: bytes_.resize(place); break;
    }
  }

  const std::vector<std::string>& inputs_;
  std::mt19937_64& random_;
  std::string bytes_;
};

}  // namespace

std::string mutate(const std::vector<std::string>& inputs, std::mt19937_64& random) {
  return Mutation(inputs, random).run();
}

}  // namespace holdfast::fuzz
