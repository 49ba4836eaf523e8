#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::testing::internal {

// A taker (see taker.h) that runs in a process of its own. One thread at a time.
//
// Every wait ends with an exception when the patience of the tests is at its end. Destruction kills
// the process if it still runs.
class TakerProcess {
 public:
  TakerProcess(const std::string& program, const std::vector<std::string>& arguments);
  ~TakerProcess();
  TakerProcess(const TakerProcess&) = delete;
  TakerProcess& operator=(const TakerProcess&) = delete;

  // The next line that it says, without the line end.
  std::string hear();
  // All that it still says until it is gone.
  std::vector<std::string> hear_rest();
  void say(std::string_view order);
  std::string ask(std::string_view order) {
    say(order);
    return hear();
  }

  // Returns when the signal has done what it does.
  void stop();
  void go_on();
  void kill();
  void wait_until_gone();

 private:
  // Nothing if it is gone.
  std::optional<std::string> next_line();
  void send(int signal) const;
  void wait_for_state(int options);

  pid_t pid_ = -1;  // -1 once it is gone
  int socket_ = -1;
  std::string heard_;  // after the last line
};

}  // namespace holdfast::testing::internal
