#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <holdfast/base/error.h>
#include <holdfast/objects/internal/activation.h>
#include <holdfast/objects/internal/host_state.h>
#include <holdfast/objects/outcome.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::objects::internal {

// Whether the caller has the turn of a serial object: because its own method saves it, or because
// no other caller can reach it.
enum class Turn : std::uint8_t { held, needed };

// The result of one request to the repository.
struct Sweep {
  std::size_t taken = 0;  // how many of the ids were handled; at least one
  std::size_t saved = 0;
  std::vector<std::string> busy;  // were in use; they are still listed
  std::optional<base::Error> error;
};

// Saves objects to the repository. Thread-safe.
//
// The dirty flag is cleared before the data is taken, and set again if it could not be saved.
// Writers of one object queue, so an older state never follows a newer one; except that a
// save which ended with unknown_outcome may still be on its way to a server, and arrive after the
// next one of the same holder: both carry the same token.
class Writer {
 public:
  explicit Writer(HostState& host) : host_(host) {}

  // Saves an object whose key the caller holds.
  [[nodiscard]] base::Result<SaveOutcome> save(Activation& activation, Turn turn,
                                               const local::KeyWait& wait);
  // Saves an object by its id; `gone` if it is not active.
  [[nodiscard]] base::Result<SaveOutcome> save(ObjectType& type, std::string_view id,
                                               const local::KeyWait& wait);
  // Saves the first of these ids, as many as fit in one request; waits only for the repository.
  // Saved objects leave the list.
  [[nodiscard]] Sweep sweep(ObjectType& type, std::span<const std::string> ids);
  // Saves all or none; the caller holds their keys exclusively. A rejected object is marked as
  // lost. If none was saved they keep their state; if that is not known, the error is
  // unknown_outcome.
  [[nodiscard]] base::Result<void> save_together(std::span<Activation* const> activations);

  [[nodiscard]] static base::Result<nlohmann::json> data_of(Activation& activation);

 private:
  [[nodiscard]] static base::Result<std::string> text_of(Activation& activation);
  [[nodiscard]] base::Result<void> settle(Activation& activation,
                                          const store::SaveOutcome& outcome);
  // Returns `lost`, and marks the object as lost, if it is known before a request that another
  // process may own it.
  [[nodiscard]] base::Result<void> check_ours(Activation& activation);
  // Sends one request and, if one of several saves may have made it fail, each alone. Returns false
  // if the repository was not reached.
  bool write(std::span<const store::ObjectSave> saves, std::span<Activation* const> activations,
             Sweep& result);
  // Marks the object as not saved, to be saved later.
  void try_again(Activation& activation);

  HostState& host_;
};

}  // namespace holdfast::objects::internal
