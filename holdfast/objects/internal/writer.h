#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <holdfast/base/error.h>
#include <holdfast/local/key_lock.h>
#include <holdfast/objects/internal/activation.h>
#include <holdfast/objects/internal/operation.h>
#include <holdfast/objects/outcome.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::objects::internal {

// Says if the caller has the turn of a serial object: because its own method saves it, or because
// no other caller can reach it.
enum class Turn : std::uint8_t { held, needed };

// Saves objects to the repository. Thread-safe.
//
// Every save has the same three steps: lock the object's saves, take its data (`take`
// clears the dirty flag before `to_data`), and `write` the request; an object that could not be
// saved is marked as changed again. Saves of one object are serial, so an older state never follows
// a newer one; except that a save which ended with unknown_outcome may still be on its way to a
// server, and arrive after the next one of the same holder: both carry the same token.
class Writer {
 public:
  explicit Writer(HostCore& host) : host_(host) {}

  // Saves an object by its id, also from its own method; `gone` if it is not active.
  [[nodiscard]] base::Result<SaveStatus> save(ObjectType& type, std::string_view id,
                                              const Operation& operation);
  // Saves an object whose key the caller holds.
  [[nodiscard]] base::Result<SaveStatus> save(Activation& activation, Turn turn,
                                              const Operation& operation);
  // Saves all or none; the caller holds their keys exclusively. A rejected object is marked as
  // lost. If none was saved they keep their state; if that is not known, the error is
  // unknown_outcome.
  [[nodiscard]] base::Result<void> save_together(std::span<Activation* const> activations,
                                                 const Operation& operation);
  // Saves the listed objects of all types, in batches, and then waits for those that were busy.
  // Returns how many were saved, or the last error; timed_out and cancelled only if there was no
  // other. Ends early if another caller's batch takes longer than the limits of the operation.
  [[nodiscard]] base::Result<std::size_t> save_listed(const Operation& operation);
  // Returns the lock that admits one batch at a time, by the key "".
  [[nodiscard]] local::KeyLock& batches() noexcept { return batches_; }

  [[nodiscard]] static base::Result<nlohmann::json> data_of(Activation& activation);

 private:
  // The objects of one request to the repository, and their data.
  struct Request {
    std::vector<Activation*> activations{};
    std::vector<store::ObjectSave> saves{};

    void add(Activation& activation, store::ObjectSave save);
  };
  // The outcome of some saves.
  struct Written {
    std::size_t saved = 0;
    std::optional<base::Error> error{};

    void add(Written other);
    // Keeps the last error. One that only says that the time was over, or that the caller
    // cancelled, does not replace another: that one says what is wrong.
    void add(base::Error other);
  };
  struct Batched;  // a request, and the locks of its objects

  // Adds a changed object to the request. Returns false if it has not changed. lost, and it is
  // marked as such, if another process may own it by now.
  [[nodiscard]] base::Result<bool> take(Activation& activation, Request& request);
  // Does the same if no lock of the object is held; otherwise adds it to those that are busy.
  [[nodiscard]] base::Result<bool> try_take(ObjectType& type, const std::string& id,
                                            Batched& batched);
  // Saves the listed objects of one type. Fails if it had to wait too long for another batch.
  [[nodiscard]] base::Result<void> save_listed(ObjectType& type, const Operation& operation,
                                               Written& written);
  // Saves the first of these ids, as many as fit in one request, and removes them from `left`;
  // returns those that were busy. Fails if it had to wait too long for another batch.
  [[nodiscard]] base::Result<std::vector<std::string>> save_first(
      ObjectType& type, std::span<const std::string>& left, const Operation& operation,
      Written& written);
  // Sends the request. If it fails and one of several saves may be the cause, sends each alone.
  [[nodiscard]] Written write(Request request, store::Batch batch, const Operation& operation);
  [[nodiscard]] Written write_each(Request request, const Operation& operation);
  [[nodiscard]] Written settle(const Request& request,
                               std::span<const store::SaveOutcome> outcomes);
  // Mark objects as not saved, to be saved later.
  void try_again(Activation& activation);
  void try_again(const Request& request);

  // Waits until no other caller takes or writes a batch, within the limits of the operation.
  [[nodiscard]] base::Result<local::ExclusiveGuard> lock_batches(const Operation& operation);

  HostCore& host_;
  local::KeyLock batches_{{.shards = 1}};  // one key: one batch at a time
};

}  // namespace holdfast::objects::internal
