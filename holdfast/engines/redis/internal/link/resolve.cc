#include <holdfast/engines/redis/internal/link/resolve.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <netdb.h>

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

// What the caller and the thread that asks for it share; the last of them frees it.
struct Question {
  std::mutex mutex;
  std::condition_variable answered;
  std::optional<Result<Addresses>> answer;  // protected by mutex
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
      const std::lock_guard guard(question->mutex);
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

bool wait_for_answer(Question& question, std::unique_lock<std::mutex>& lock,
                     base::Deadline deadline) {
  const auto has_answer = [&] { return question.answer.has_value(); };
  if (deadline.is_never()) {
    question.answered.wait(lock, has_answer);
    return true;
  }
  return question.answered.wait_for(lock, deadline.remaining(base::steady_clock().now()),
                                    has_answer);
}

}  // namespace

Result<Addresses> resolve(const std::string& host, std::uint16_t port, base::Deadline deadline) {
  if (auto numeric = ask_system(host, port, AI_NUMERICHOST)) {
    return numeric;
  }
  const auto question = std::make_shared<Question>();
  HOLDFAST_TRY(ask_in_background(question, host, port));
  std::unique_lock lock(question->mutex);
  if (!wait_for_answer(*question, lock, deadline)) {
    return fail(ErrorCode::unavailable, "the host '" + base::printable(host) +
                                            "' was not found in time: the name service is slow");
  }
  return *std::move(question->answer);
}

}  // namespace holdfast::engines::redis::internal
