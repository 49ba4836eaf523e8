#include <holdfast/engines/mongodb/internal/name_list.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <holdfast/base/try.h>
#include <holdfast/engines/mongodb/internal/answers.h>

namespace holdfast::engines::mongodb::internal {

namespace {

using base::Result;
using store::NameState;

// A range of _ids: from `from` (itself only if `inclusive`), and all begin with `prefix`.
struct Range {
  std::string from;
  bool inclusive = true;
  std::string prefix;
  bool leaves_out_escapes = false;
};

// The text that comes after all that begin with this; texts end before a byte that no UTF-8 has.
Bson conditions(const IdSpace& ids, const Range& range) {
  Bson at_least;
  at_least.add(range.inclusive ? "$gte" : "$gt", range.from);
  Bson first;
  first.add("_id", at_least);
  if (!range.leaves_out_escapes) {
    return first;
  }
  Bson before;
  before.add("$lt", ids.prefix() + std::string(IdSpace::kEscape));
  Bson after;
  after.add("$gte", ids.prefix() + std::string(IdSpace::kAfterEscape));
  Bson one;
  one.add("_id", before);
  Bson other;
  other.add("_id", after);
  Bson either;
  either.push(one).push(other);
  Bson outside;
  outside.add_array("$or", either);
  Bson both;
  both.push(first).push(outside);
  Bson all;
  all.add_array("$and", both);
  return all;
}

class Lister {
 public:
  Lister(Link& link, const Requests& requests, const IdSpace& ids, std::string_view prefix,
         std::size_t limit, base::Deadline deadline)
      : link_(link),
        requests_(requests),
        ids_(ids),
        prefix_(prefix),
        limit_(limit),
        deadline_(deadline) {}

  // Up to `limit` names of the range that begin with the wanted bytes.
  Result<std::vector<NameState>> run(Range range) {
    std::vector<NameState> found;
    while (found.size() < limit_) {
      const auto batches = link_.read_batches(
          requests_.list(conditions(ids_, range), static_cast<std::int64_t>(limit_)),
          [&](std::int64_t cursor) { return requests_.get_more(cursor); }, deadline_);
      if (!batches) {
        return std::unexpected(batches.error());
      }
      std::size_t seen = 0;
      bool is_past = false;
      for (const Bson& batch : *batches) {
        for_each_document(batch, [&](const BsonValue& document) {
          ++seen;
          const auto id = document.find("_id");
          range.from = id ? id->text().value_or("") : "";
          is_past = is_past || !range.from.starts_with(range.prefix);
          if (!is_past) {
            take(document, range.from, found);
          }
        });
      }
      range.inclusive = false;
      if (seen < limit_ || is_past) {
        break;
      }
    }
    return found;
  }

 private:
  // A document that is not a lock, or a name that nobody can have, is not listed.
  void take(const BsonValue& document, std::string_view id, std::vector<NameState>& found) const {
    const auto bytes = ids_.name_of(id);
    if (!bytes || !bytes->starts_with(prefix_)) {
      return;
    }
    const auto name = base::Name::make(*bytes);
    const auto sight = sight_of(document);
    if (!name || !sight) {
      return;
    }
    if (auto state = name_state(*name, *sight)) {
      found.push_back(*std::move(state));
    }
  }

  Link& link_;
  const Requests& requests_;
  const IdSpace& ids_;
  const std::string_view prefix_;
  const std::size_t limit_;
  const base::Deadline deadline_;
};

// Names as they are. Bytes that are not the beginning of a valid text are looked for from the last
// valid character on, and sorted out here.
Range plain_range(const IdSpace& ids, std::string_view prefix, std::string_view after) {
  const std::string begin = ids.prefix() + std::string(IdSpace::valid_beginning(prefix));
  const std::string next = ids.prefix() + std::string(IdSpace::valid_beginning(after));
  return {.from = std::max(begin, next), .prefix = begin, .leaves_out_escapes = true};
}

Range escaped_range(const IdSpace& ids, std::string_view prefix, std::string_view after) {
  const std::string escape = ids.prefix() + std::string(IdSpace::kEscape);
  const std::string begin = escape + IdSpace::hexadecimal(prefix);
  return {.from = std::max(begin, escape + IdSpace::hexadecimal(after)), .prefix = begin};
}

}  // namespace

Result<store::Page> list_names(Link& link, const Requests& requests, const IdSpace& ids,
                               std::string_view prefix, const store::PageRequest& request,
                               base::Deadline deadline) {
  // Two more than asked for: one to know whether there is a next page, one that may be `after`.
  Lister lister(link, requests, ids, prefix, request.limit + 2, deadline);
  HOLDFAST_TRY_LET(auto plain, lister.run(plain_range(ids, prefix, request.after)));
  HOLDFAST_TRY_LET(auto escaped, lister.run(escaped_range(ids, prefix, request.after)));
  store::Page page;
  std::ranges::merge(plain, escaped, std::back_inserter(page.names), {}, &NameState::name,
                     &NameState::name);
  std::erase_if(page.names,
                [&](const NameState& state) { return state.name.view() <= request.after; });
  if (page.names.size() > request.limit) {
    page.names.erase(page.names.begin() + static_cast<std::ptrdiff_t>(request.limit),
                     page.names.end());
    page.next = page.names.back().name.view();
  }
  return page;
}

}  // namespace holdfast::engines::mongodb::internal
