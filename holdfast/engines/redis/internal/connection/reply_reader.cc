#include <holdfast/engines/redis/internal/connection/reply_reader.h>

#include <algorithm>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include <hiredis/hiredis.h>

namespace holdfast::engines::redis::internal {

// The functions that the reader calls for each piece of a reply. A null result makes it fail.
struct ReplyReader::Functions {
  // Puts the piece where it belongs: the root, or the next element of the array that is being read.
  // An element may move when the next one comes: it is whole by then, and no task points to it.
  static Reply* place(const redisReadTask* task, Reply reply) {
    if (task->parent == nullptr) {
      Reply& root = reader_of(task).root_;
      root = std::move(reply);
      return &root;
    }
    auto* const parent = static_cast<Reply*>(task->parent->obj);
    auto& elements = std::get<std::vector<Reply>>(parent->value_);
    return &elements.emplace_back(std::move(reply));
  }

  static ReplyReader& reader_of(const redisReadTask* task) noexcept {
    return *static_cast<ReplyReader*>(task->privdata);
  }

  static std::size_t depth_of(const redisReadTask* task) noexcept {
    std::size_t depth = 0;
    for (; task->parent != nullptr; task = task->parent) {
      ++depth;
    }
    return depth;
  }

  // Later versions of hiredis read types of RESP3, which nobody has asked the server for.
  static void* refuse(const redisReadTask* task) noexcept {
    reader_of(task).is_unknown_type_ = true;
    return nullptr;
  }

  static void* make_string(const redisReadTask* task, char* text, std::size_t size) noexcept try {
    switch (task->type) {
      case REDIS_REPLY_STRING:
        return place(task, Reply::of_text(Reply::Kind::string, std::string(text, size)));
      case REDIS_REPLY_STATUS:
        return place(task, Reply::of_text(Reply::Kind::status, std::string(text, size)));
      case REDIS_REPLY_ERROR:
        return place(task, Reply::of_text(Reply::Kind::error, std::string(text, size)));
      default: return refuse(task);
    }
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

  // The type of the size depends on the version of hiredis.
  template <class Size>
  static void* make_array(const redisReadTask* task, Size size) noexcept try {
    ReplyReader& reader = reader_of(task);
    if (task->type != REDIS_REPLY_ARRAY) {
      return refuse(task);
    }
    if (std::cmp_less(size, 0) ||
        std::cmp_greater(size, reader.limits_.elements - reader.elements_) ||
        depth_of(task) >= ReplyLimits::kDepth) {
      reader.is_too_large_ = true;
      return nullptr;
    }
    reader.elements_ += static_cast<std::size_t>(size);
    std::vector<Reply> elements;
    elements.reserve(std::min(static_cast<std::size_t>(size), kReserved));
    return place(task, Reply::of_array(std::move(elements)));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

  static void* make_integer(const redisReadTask* task, long long value) noexcept try {
    return place(task, Reply::of_integer(value));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

  static void* make_nil(const redisReadTask* task) noexcept try {
    return place(task, Reply());
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

  // The reader owns nothing: all pieces are in the root.
  static void forget(void* /*reply*/) noexcept {}

  // An announced array takes memory for so many elements; the others take it when they come.
  static constexpr std::size_t kReserved = 64;

  static redisReplyObjectFunctions table;
};

redisReplyObjectFunctions ReplyReader::Functions::table = {
    .createString = make_string,
    .createArray = make_array,
    .createInteger = make_integer,
#if HIREDIS_MAJOR >= 1
    .createDouble = [](const redisReadTask* task, double, char*,
                       std::size_t) noexcept { return refuse(task); },
#endif
    .createNil = make_nil,
#if HIREDIS_MAJOR >= 1
    .createBool = [](const redisReadTask* task, int) noexcept { return refuse(task); },
#endif
    .freeObject = forget,
};

void ReplyReader::Free::operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }

ReplyReader::ReplyReader(ReplyLimits limits)
    : limits_(limits), reader_(redisReaderCreateWithFunctions(&Functions::table)) {
  if (reader_ == nullptr) {
    throw std::bad_alloc();
  }
  reader_->privdata = this;
}

ReplyReader::~ReplyReader() = default;

base::Result<void> ReplyReader::feed(std::string_view bytes) {
  if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != 0) {
    return base::fail(base::ErrorCode::unavailable, "there is no memory for the server's reply");
  }
  begun_ += bytes.size();
  return {};
}

base::Error ReplyReader::refusal() const {
  if (is_too_large_) {
    return {base::ErrorCode::unavailable,
            "the server's reply is larger than any that was asked for"};
  }
  if (is_unknown_type_) {
    return {base::ErrorCode::unavailable, "the server's reply is of a type that was not asked for"};
  }
  return {base::ErrorCode::unavailable,
          "what the server sends is not the protocol of Redis: " + std::string(reader_->errstr)};
}

base::Result<std::optional<Reply>> ReplyReader::next() {
  void* done = nullptr;
  if (redisReaderGetReply(reader_.get(), &done) != 0) {
    return std::unexpected(refusal());
  }
  if (done == nullptr) {
    if (begun_ <= limits_.bytes) {
      return std::nullopt;
    }
    is_too_large_ = true;
    return std::unexpected(refusal());
  }
  const std::size_t rest = reader_->len - reader_->pos;
  root_.wire_size_ = static_cast<std::uint32_t>(
      std::min<std::size_t>(begun_ - rest, std::numeric_limits<std::uint32_t>::max()));
  begun_ = rest;
  elements_ = 0;
  return std::exchange(root_, Reply());
}

}  // namespace holdfast::engines::redis::internal
