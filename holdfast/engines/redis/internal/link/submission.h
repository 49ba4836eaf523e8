#pragma once

#include <functional>
#include <map>
#include <optional>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/link/command.h>
#include <holdfast/engines/redis/internal/link/pending.h>
#include <holdfast/engines/redis/internal/link/reply.h>

namespace holdfast::engines::redis::internal {

// A command for which no caller waits: the link keeps it until it is answered, and then calls back.
struct Submission {
  using Callback = std::function<void(base::Result<Reply> reply)>;

  Submission(Command the_command, base::Deadline deadline, Callback the_callback)
      : command(std::move(the_command)),
        call{
            .commands = {&command, 1}, .replies = &reply, .deadline = deadline, .submission = this},
        callback(std::move(the_callback)) {}
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  // When it is finished, and the link's mutex is free.
  void answer() {
    if (call.error) {
      callback(std::unexpected(*std::move(call.error)));
    } else {
      callback(std::move(reply));
    }
  }

  const Command command;
  Reply reply;
  Call call;
  const Callback callback;
  std::optional<std::multimap<base::TimePoint, Submission*>::iterator> place;  // while it waits
};

}  // namespace holdfast::engines::redis::internal
