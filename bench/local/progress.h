#pragma once

#include <string_view>

namespace holdfast::bench {

// A line on the terminal that shows what is being measured; silent if stderr is not a terminal.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::string_view text) const;
  void clear() const;

 private:
  const bool visible_;
};

}  // namespace holdfast::bench
