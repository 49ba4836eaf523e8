#pragma once

#include <optional>
#include <string>

#include <holdfast/base/error.h>
#include <holdfast/engines/mongodb/internal/bson.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/record.h>

// A name's document (docs/engines/mongodb.md shows it), read as a store::Record.
namespace holdfast::engines::mongodb::internal {

// A lease's text: its id, its owner and its reason, without a character that could be
// misunderstood. Another program that locks here has some text of its own.
[[nodiscard]] std::string lock_id(const base::LeaseId& id, std::string_view owner,
                                  std::string_view reason);
// Returns the beginning of the text of a lease with this id.
[[nodiscard]] std::string lock_id_prefix(const base::LeaseId& id);
// The text of a name whose last lease, with this id, was released.
[[nodiscard]] std::string tombstone_lock_id(const base::LeaseId& id);

// A moment of the server's clock.
[[nodiscard]] store::Instant instant_of(Date now);

// A document as a record. The lease of another program has the nil id, and its text as the owner.
// ErrorCode::conflict if the document is none of ours, nor of a program that locks as we do;
// ErrorCode::corrupt if a number is out of its range.
[[nodiscard]] base::Result<store::Record> record_of(const BsonValue& document);

// Returns whether this lease was the last one released.
[[nodiscard]] bool was_released_last(const BsonValue& document, const base::LeaseId& id);

}  // namespace holdfast::engines::mongodb::internal
