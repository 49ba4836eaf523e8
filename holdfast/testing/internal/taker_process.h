#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::testing::internal {

// A taker (see taker.h) in its own process. One thread at a time.
//
// Every wait ends with an exception after kPatience. Destruction kills the process if it still
// runs.
class TakerProcess {
 public:
  TakerProcess(const std::string& program, const std::vector<std::string>& arguments);
  ~TakerProcess();
  TakerProcess(const TakerProcess&) = delete;
  TakerProcess& operator=(const TakerProcess&) = delete;

  // Returns the next line that the taker prints, without the line end.
  std::string hear();
  // Returns all remaining lines until the taker has ended.
  std::vector<std::string> hear_rest();
  void say(std::string_view order);
  std::string ask(std::string_view order) {
    say(order);
    return hear();
  }

  // Return when the signal has taken effect.
  void stop();
  void go_on();
  void kill();
  void wait_until_gone();

 private:
  // Returns nullopt if the taker has ended.
  std::optional<std::string> next_line();
  void send(int signal) const;
  void wait_for_state(int options);

  pid_t pid_ = -1;  // -1 once it has ended
  int socket_ = -1;
  std::string heard_;  // after the last line
};

}  // namespace holdfast::testing::internal
