#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>
#include <holdfast/engines/mongodb/internal/bson.h>
#include <holdfast/engines/mongodb/internal/write_concern.h>
#include <holdfast/engines/mongodb/mongo_options.h>

namespace holdfast::engines::mongodb::internal {

// The commands of a repository. Thread-safe: constant.
//
// A document has `token`, the greatest that was seen, as store::token_text() has it, and either
// `data` or `unusedSince`, from which on the TTL index counts.
class ObjectRequests {
 public:
  explicit ObjectRequests(const MongoOptions& options);

  // Raises the token, unless it is greater. The answer has the document as it is afterwards.
  [[nodiscard]] Bson load(std::string_view id, base::FencingToken token) const;
  // Leaves nothing but the token, unless it is greater. The answer has the document as it was,
  // without the data; null if there was none.
  [[nodiscard]] Bson erase(std::string_view id, base::FencingToken token) const;
  // Removes an object that no token was ever used for.
  [[nodiscard]] Bson erase_unfenced(std::string_view id) const;

  // One save of a batch, and the batch. One that a greater token refuses is a write error: it finds
  // no document that may be changed, and one that is in the way of a new one.
  static void add_save(Bson& updates, std::string_view id, base::FencingToken token,
                       std::string_view data);
  [[nodiscard]] Bson save(const Bson& updates) const;

  // Their documents: all of one; of several, the tokens.
  [[nodiscard]] Bson look(std::string_view id) const;
  [[nodiscard]] Bson look_at_tokens(const Bson& ids, std::size_t count) const;
  // The first _ids of documents with data from `from` (or after it) until before `end`.
  enum class From : bool { including, after };
  [[nodiscard]] Bson list(From kind, std::string_view from, std::string_view end,
                          std::size_t limit) const;

  [[nodiscard]] Bson create_index() const;

 private:
  [[nodiscard]] Bson find_and_modify(std::string_view id, base::FencingToken token,
                                     const Bson& pipeline) const;
  [[nodiscard]] Bson find(const Bson& filter, std::size_t limit) const;

  const std::string collection_;
  const WriteConcern write_concern_;
  const base::Duration retention_;
};

}  // namespace holdfast::engines::mongodb::internal
