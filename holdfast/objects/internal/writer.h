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

// Whether the caller has the turn of a serial object: its own method saves it, or nobody else can
// be there.
enum class Turn : std::uint8_t { held, needed };

// What one request to the repository came to.
struct Sweep {
  std::size_t taken = 0;  // so many of the ids are dealt with; at least one
  std::size_t saved = 0;
  std::vector<std::string> busy;  // could not be had at once; they are still in the list
  std::optional<base::Error> error;
};

// Writes objects to the repository. Thread-safe.
//
// The dirty flag is cleared before the data is taken, and set again where it could not be saved.
// Writers of one object stand in line, so an older state never follows a newer one; except that a
// save which ended with unknown_outcome may still be on its way to a server, and arrive after the
// next one of the same holder: both carry the same token.
class Writer {
 public:
  explicit Writer(HostState& host) : host_(host) {}

  // One object, whose key the caller holds.
  [[nodiscard]] base::Result<SaveOutcome> save(Activation& activation, Turn turn,
                                               const local::KeyWait& wait);
  // One object by its id; `gone` where it is not active.
  [[nodiscard]] base::Result<SaveOutcome> save(ObjectType& type, std::string_view id,
                                               const local::KeyWait& wait);
  // The first of these, as many as fit in one request; waits for nobody but the repository. What is
  // saved leaves the list.
  [[nodiscard]] Sweep sweep(ObjectType& type, std::span<const std::string> ids);
  // All or none; their keys are held exclusively. What was refused is lost; where none was saved
  // they stay as they are, and where that is not known, unknown_outcome.
  [[nodiscard]] base::Result<void> save_together(std::span<Activation* const> activations);

  [[nodiscard]] static base::Result<nlohmann::json> data_of(Activation& activation);

 private:
  [[nodiscard]] static base::Result<std::string> text_of(Activation& activation);
  [[nodiscard]] base::Result<void> settle(Activation& activation,
                                          const store::SaveOutcome& outcome);
  // `lost`, and marked as that, where it is known before a request that another process may have
  // it.
  [[nodiscard]] base::Result<void> check_ours(Activation& activation);
  // One request and, where one of several may be what makes it fail, each alone. False: the
  // repository was not reached.
  bool write(std::span<const store::ObjectSave> saves, std::span<Activation* const> activations,
             Sweep& result);
  // It is not saved, and stays to be.
  void try_again(Activation& activation);

  HostState& host_;
};

}  // namespace holdfast::objects::internal
