#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>

#include "apps/holdfast/cli/kind.h"
#include "apps/holdfast/serve/names_query.h"

namespace holdfast::cli::serve {

namespace {

using Item = std::pair<std::string, Entry>;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool has(std::string_view text, std::string_view searched) {
  return !std::ranges::search(text, searched, {}, lower).empty();
}

bool mentions(const Item& item, std::string_view searched) {
  if (has(item.first, searched)) {
    return true;
  }
  const auto is_named = [&](const auto& who) {
    return has(who.owner, searched) || has(who.reason, searched);
  };
  return (item.second.state && std::ranges::any_of(item.second.state->holders, is_named)) ||
         std::ranges::any_of(item.second.waiters, is_named);
}

bool matches(const Item& item, const NamesQuery& query) {
  const auto& [name, entry] = item;
  if (!name.starts_with(query.prefix) || (query.waited && entry.waiters.empty())) {
    return false;
  }
  if (!query.kind.empty() && (!entry.state || kind_of(name, *entry.state) != query.kind)) {
    return false;
  }
  return query.search.empty() || mentions(item, query.search);
}

// Returns the value that puts an entry in its place: the greatest first.
std::int64_t rank(const Entry& entry, NamesQuery::Order order) {
  using enum NamesQuery::Order;
  if (order == waiters) {
    return static_cast<std::int64_t>(entry.waiters.size());
  }
  std::int64_t most = order == left ? -base::Duration::max().count() : -1;
  if (entry.state) {
    for (const store::Holder& holder : entry.state->holders) {
      most = std::max<std::int64_t>(
          most, order == left ? -holder.time_left.count() : holder.held_for.count());
    }
  }
  return most;
}

}  // namespace

base::Result<NamesQuery> NamesQuery::parse(const Target& target) {
  constexpr std::uint64_t kAnyOffset = 100'000'000;
  static constexpr std::array<std::pair<std::string_view, Order>, 4> kOrders{
      {{"name", Order::name},
       {"held", Order::held},
       {"left", Order::left},
       {"waiters", Order::waiters}}};
  NamesQuery query;
  for (const auto& [key, value] : target.query) {
    if (key == "prefix") {
      query.prefix = value;
    } else if (key == "search") {
      query.search = value;
      std::ranges::transform(query.search, query.search.begin(), lower);
    } else if (key == "kind") {
      query.kind = value;
    } else if (key == "waited") {
      query.waited = value == "true";
    } else if (key == "order") {
      const auto found = std::ranges::find(kOrders, std::string_view(value),
                                           &std::pair<std::string_view, Order>::first);
      if (found == kOrders.end()) {
        return base::fail(base::ErrorCode::invalid_argument,
                          "order is none of name, held, left, waiters");
      }
      query.order = found->second;
    } else if (key != "offset" && key != "limit") {
      return base::fail(base::ErrorCode::invalid_argument,
                        fmt::format("there is no parameter {}", base::printable(key)));
    }
  }
  HOLDFAST_TRY_LET(query.offset, target.number("offset", 0, kAnyOffset));
  HOLDFAST_TRY_LET(query.limit, target.number("limit", query.limit, kMostNames));
  return query;
}

Selection select(const Snapshot& snapshot, const NamesQuery& query) {
  Selection selection;
  std::vector<std::size_t> all;
  // Names are in the order of their bytes, so those with a prefix are together.
  const auto first = std::ranges::lower_bound(snapshot.entries, query.prefix, {}, &Item::first);
  for (auto item = first; item != snapshot.entries.end(); ++item) {
    if (!item->first.starts_with(query.prefix)) {
      break;
    }
    if (matches(*item, query)) {
      all.push_back(static_cast<std::size_t>(item - snapshot.entries.begin()));
    }
  }
  selection.total = all.size();
  const std::size_t begin = std::min(query.offset, all.size());
  const std::size_t end = std::min(begin + query.limit, all.size());
  if (query.order != NamesQuery::Order::name) {
    std::vector<std::pair<std::int64_t, std::size_t>> ranked;
    ranked.reserve(all.size());
    for (const std::size_t place : all) {
      ranked.emplace_back(-rank(snapshot.entries[place].second, query.order), place);
    }
    std::ranges::partial_sort(ranked, ranked.begin() + static_cast<std::ptrdiff_t>(end));
    std::ranges::transform(ranked, all.begin(), &std::pair<std::int64_t, std::size_t>::second);
  }
  selection.places.assign(all.begin() + static_cast<std::ptrdiff_t>(begin),
                          all.begin() + static_cast<std::ptrdiff_t>(end));
  return selection;
}

}  // namespace holdfast::cli::serve
