#include <holdfast/engines/redis/internal/link/reply_reader.h>

#include <new>
#include <string>
#include <utility>

namespace holdfast::engines::redis::internal {

// What the reader calls for each piece of a reply. A null result makes it fail.
struct ReplyReader::Functions {
  // Where the piece belongs: the root, or the next element of the array that is being read. An
  // array reserves its elements in advance, so that none of them moves.
  static Reply* place(const redisReadTask* task, Reply reply) noexcept {
    if (task->parent == nullptr) {
      auto* const root = static_cast<Reply*>(task->privdata);
      *root = std::move(reply);
      return root;
    }
    auto* const parent = static_cast<Reply*>(task->parent->obj);
    auto& elements = std::get<std::vector<Reply>>(parent->value_);
    return &elements.emplace_back(std::move(reply));
  }

  static void* make_string(const redisReadTask* task, char* text, std::size_t size) noexcept try {
    const auto kind = task->type == REDIS_REPLY_STRING   ? Reply::Kind::string
                      : task->type == REDIS_REPLY_STATUS ? Reply::Kind::status
                                                         : Reply::Kind::error;
    return place(task, Reply::of_text(kind, std::string(text, size)));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

  // The type of the size depends on the version of hiredis.
  template <class Size>
  static void* make_array(const redisReadTask* task, Size size) noexcept try {
    if (std::cmp_less(size, 0) || std::cmp_greater(size, kMostElements)) {
      return nullptr;
    }
    std::vector<Reply> elements;
    elements.reserve(static_cast<std::size_t>(size));
    return place(task, Reply::of_array(std::move(elements)));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

  static void* make_integer(const redisReadTask* task, long long value) noexcept {
    return place(task, Reply::of_integer(value));
  }

  static void* make_nil(const redisReadTask* task) noexcept { return place(task, Reply()); }

  // The reader owns nothing: all pieces are in the root.
  static void forget(void* /*reply*/) noexcept {}

  static redisReplyObjectFunctions table;
};

redisReplyObjectFunctions ReplyReader::Functions::table = {make_string, make_array, make_integer,
                                                           make_nil, forget};

void ReplyReader::Free::operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }

ReplyReader::ReplyReader() : reader_(redisReaderCreateWithFunctions(&Functions::table)) {
  if (reader_ == nullptr) {
    throw std::bad_alloc();
  }
  reader_->privdata = &root_;
}

ReplyReader::~ReplyReader() = default;

base::Result<void> ReplyReader::feed(std::string_view bytes) {
  if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != 0) {
    return base::fail(base::ErrorCode::unavailable, "there is no memory for the server's reply");
  }
  if (reader_->len - reader_->pos > kMostBytes) {
    return base::fail(base::ErrorCode::unavailable,
                      "the server's reply is longer than any that was asked for");
  }
  return {};
}

base::Result<std::optional<Reply>> ReplyReader::next() {
  void* done = nullptr;
  if (redisReaderGetReply(reader_.get(), &done) != 0) {
    return base::fail(
        base::ErrorCode::unavailable,
        "what the server sends is not the protocol of Redis: " + std::string(reader_->errstr));
  }
  if (done == nullptr) {
    return std::nullopt;
  }
  return std::exchange(root_, Reply());
}

}  // namespace holdfast::engines::redis::internal
