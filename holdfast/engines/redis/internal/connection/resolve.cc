#include <holdfast/engines/redis/internal/connection/resolve.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <netdb.h>

#include <holdfast/base/mutex.h>
#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using Addresses = std::vector<Address>;

Result<Addresses> ask_system(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    return fail(ErrorCode::unavailable,
                "the host '" + base::printable(host) + "' is not known: " + ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  Addresses addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    Address& address = addresses.emplace_back();
    address.size = each->ai_addrlen;
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
  }
  return addresses;
}

// The question that a caller and the thread that asks for it share; the last of them frees it.
struct Question {
  base::Mutex mutex;
  base::ConditionVariable answered;
  std::optional<Result<Addresses>> answer HOLDFAST_GUARDED_BY(mutex);
};

// The system's own patience is long: callers who leave must not pile up threads that wait for it.
constexpr int kMostQuestions = 8;
std::atomic<int> open_questions = 0;

Result<void> ask_in_background(const std::shared_ptr<Question>& question, const std::string& host,
                               std::uint16_t port) {
  if (open_questions.fetch_add(1) >= kMostQuestions) {
    --open_questions;
    return fail(ErrorCode::unavailable,
                "too many host names are being looked up: the name service is slow");
  }
  try {
    std::thread([question, host, port] {
      auto answer = ask_system(host, port, 0);
      --open_questions;
      const base::MutexLock lock(question->mutex);
      question->answer = std::move(answer);
      question->answered.notify_one();
    }).detach();
  } catch (const std::system_error& error) {
    --open_questions;
    return fail(ErrorCode::unavailable,
                std::string("there is no thread to look up the host: ") + error.what());
  }
  return {};
}

// Returns nothing if the deadline came first.
std::optional<Result<Addresses>> wait_for_answer(Question& question, base::Deadline deadline) {
  const base::MutexLock lock(question.mutex);
  while (!question.answer && !deadline.expired(base::steady_clock().now())) {
    if (deadline.is_never()) {
      question.answered.wait(question.mutex);
    } else {
      question.answered.wait_for(question.mutex, deadline.remaining(base::steady_clock().now()));
    }
  }
  return std::move(question.answer);
}

}  // namespace

Result<Addresses> resolve(const std::string& host, std::uint16_t port, base::Deadline deadline) {
  if (auto numeric = ask_system(host, port, AI_NUMERICHOST)) {
    return numeric;
  }
  const auto question = std::make_shared<Question>();
  HOLDFAST_TRY(ask_in_background(question, host, port));
  auto answer = wait_for_answer(*question, deadline);
  if (!answer) {
    return fail(ErrorCode::unavailable, "the host '" + base::printable(host) +
                                            "' was not found in time: the name service is slow");
  }
  return *std::move(answer);
}

}  // namespace holdfast::engines::redis::internal
