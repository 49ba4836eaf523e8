#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>

namespace holdfast::store {

// The promises of a repository.
struct RepositoryCapabilities {
  std::string engine;         // "memory", "sqlite", …
  bool durable = false;       // what was saved survives a kill of this process
  bool atomic_batch = false;  // Batch::all_or_none is supported

  friend bool operator==(const RepositoryCapabilities&, const RepositoryCapabilities&) = default;
};

// The key of an object. Both parts are names, as base::Name says.
struct ObjectKey {
  std::string type;
  std::string id;

  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

// The data of one object, as text that a repository does not read.
struct ObjectSave {
  ObjectKey key;
  std::string data;
  base::FencingToken token;
};

// The outcome if no data are stored under the key.
struct Absent {
  friend bool operator==(const Absent&, const Absent&) = default;
};
// The repository has seen a greater token: nothing has changed.
struct Refused {
  base::FencingToken newest;

  friend bool operator==(const Refused&, const Refused&) = default;
};
struct Loaded {
  std::string data;

  friend bool operator==(const Loaded&, const Loaded&) = default;
};
struct Saved {
  friend bool operator==(const Saved&, const Saved&) = default;
};
// Not refused itself, but another of the batch was: nothing has changed.
struct Withheld {
  friend bool operator==(const Withheld&, const Withheld&) = default;
};
// `existed`: there was something to erase.
struct Erased {
  bool existed = false;

  friend bool operator==(const Erased&, const Erased&) = default;
};

using LoadOutcome = std::variant<Loaded, Absent, Refused>;
using SaveOutcome = std::variant<Saved, Refused, Withheld>;
using EraseOutcome = std::variant<Erased, Refused>;

// `each`: every save for itself. `all_or_none`: one that is refused keeps the others from being
// saved.
enum class Batch : std::uint8_t { each, all_or_none };

struct IdPage {
  std::vector<std::string> ids;  // in byte order
  std::string next;              // empty: this was the last page
};

// THE seam of persistence: keeps the data of objects by type and id.
//
// Thread-safe. Each operation on one object is atomic, and durable when it returns if the
// repository promises that. Blocks no longer than the deadline, of base::steady_clock():
// ErrorCode::unavailable if nothing was done by then, unknown_outcome if that is not known; every
// operation may be repeated as it was, with the same effect as once.
//
// **Tokens.** The repository remembers for each key the greatest token it has seen, and refuses a
// smaller one. `load` counts too: once the successor has loaded an object, nothing that its
// predecessor still sends is accepted, so no update is lost between them. `erase` keeps the token,
// so that a caller with an older token cannot bring the object back. An engine with a `retention`
// keeps it that long: a process that sleeps longer after an erase is not refused any more.
// FencingToken(0) is for callers without a lock: it is refused where a greater one was seen.
//
// Errors: invalid_argument (a name or data outside their bounds), unsupported (all_or_none where it
// is not promised), and those of the engine. The public functions check arguments; the private
// `do_*` are what an engine writes.
class ObjectRepository {
 public:
  static constexpr std::size_t kMaxData = 8UL * 1024 * 1024;
  static constexpr std::size_t kMaxBatch = 1'000;

  virtual ~ObjectRepository() = default;
  ObjectRepository(const ObjectRepository&) = delete;
  ObjectRepository& operator=(const ObjectRepository&) = delete;

  [[nodiscard]] base::Result<LoadOutcome> load(const ObjectKey& key, base::FencingToken token,
                                               base::Deadline deadline = base::Deadline::never());
  // Returns one outcome for each.
  [[nodiscard]] base::Result<std::vector<SaveOutcome>> save(
      std::span<const ObjectSave> saves, Batch batch,
      base::Deadline deadline = base::Deadline::never());
  [[nodiscard]] base::Result<EraseOutcome> erase(const ObjectKey& key, base::FencingToken token,
                                                 base::Deadline deadline = base::Deadline::never());
  // Returns the ids of a type that begin with these bytes. `after`: the `next` of the page before.
  [[nodiscard]] base::Result<IdPage> list(std::string_view type, std::string_view prefix,
                                          std::size_t limit = 100, std::string_view after = {},
                                          base::Deadline deadline = base::Deadline::never());

  [[nodiscard]] virtual RepositoryCapabilities capabilities() const = 0;

 protected:
  ObjectRepository() = default;

 private:
  virtual base::Result<LoadOutcome> do_load(const ObjectKey& key, base::FencingToken token,
                                            base::Deadline deadline) = 0;
  virtual base::Result<std::vector<SaveOutcome>> do_save(std::span<const ObjectSave> saves,
                                                         Batch batch, base::Deadline deadline) = 0;
  virtual base::Result<EraseOutcome> do_erase(const ObjectKey& key, base::FencingToken token,
                                              base::Deadline deadline) = 0;
  virtual base::Result<IdPage> do_list(std::string_view type, std::string_view prefix,
                                       std::size_t limit, std::string_view after,
                                       base::Deadline deadline) = 0;
};

}  // namespace holdfast::store
