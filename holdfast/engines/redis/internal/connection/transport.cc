#include <holdfast/engines/redis/internal/connection/transport.h>

#include <utility>

#include <holdfast/base/try.h>

namespace holdfast::engines::redis::internal {

namespace {

// More than this is not kept for the next time.
constexpr std::size_t kMostKept = std::size_t{1} << 20U;

// So many bytes of a long reply show that the server is alive.
constexpr std::size_t kMuch = std::size_t{1} << 16U;

}  // namespace

base::Result<bool> Transport::read(std::vector<Reply>& replies) {
  has_progressed_ = false;
  HOLDFAST_TRY_LET(const auto got, wire_->read(buffer_));
  if (got == 0) {
    return false;
  }
  HOLDFAST_TRY(reader_.feed({buffer_.data(), got}));
  while (true) {
    HOLDFAST_TRY_LET(auto reply, reader_.next());
    if (!reply) {
      break;
    }
    has_progressed_ = true;
    counted_ = 0;
    replies.push_back(*std::move(reply));
  }
  if (reader_.begun() >= counted_ + kMuch) {
    has_progressed_ = true;
    counted_ = reader_.begun();
  }
  return true;
}

void Transport::add_sent(std::size_t bytes) noexcept {
  sent_ += bytes;
  if (sent_ == to_send_.size()) {
    sent_ = 0;
    to_send_.clear();
    if (to_send_.capacity() > kMostKept) {
      to_send_.shrink_to_fit();
    }
  }
}

}  // namespace holdfast::engines::redis::internal
