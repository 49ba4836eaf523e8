#pragma once

#include <string>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>

// A fence in a MongoDB document: filters and updates as Extended JSON, to be run with any client
// (bsoncxx::from_json, bson_new_from_json, json_util.loads).
//
// The document stores the greatest token it has seen in a field. Put the filter and the update into
// one updateOne or findAndModify: it changes the document only if it has seen no newer token.
//   matched one document                     accepted, and the token is remembered
//   matched none                             rejected, or there is no such document
//   with upsert, a duplicate-key error       rejected; without the error, the document was created
// A field that is not a number never matches, so nothing is overwritten. For MongoDB from 3.6,
// where an array is of the type "array".
//
// Errors: invalid_argument for a token of more than 63 bits, for a field name that is empty, has
// a NUL byte, begins with $ or has a dot, and for an id that is not UTF-8.
namespace holdfast::fence {

struct MongoFence {
  std::string field = "fence";
};

// {"_id": "…", "$or": [{"fence": {"$lte": …, "$not": {"$type": "array"}}},
//                      {"fence": {"$exists": false}}]}
[[nodiscard]] base::Result<std::string> mongo_filter(std::string_view id, base::FencingToken token,
                                                     const MongoFence& fence = {});

// Returns the same without the id, for your own filters: {"$and": [yours, this]}.
[[nodiscard]] base::Result<std::string> mongo_condition(base::FencingToken token,
                                                        const MongoFence& fence = {});

// Returns {"fence": …}, to be added to the $set of your update.
[[nodiscard]] base::Result<std::string> mongo_fence_fields(base::FencingToken token,
                                                           const MongoFence& fence = {});

}  // namespace holdfast::fence
