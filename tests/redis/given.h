#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>

#include <tests/redis/held_job.h>

namespace holdfast::tests {

// A store of its own with a claim for "job" that was refused and waits in the queue.
struct Claimant {
  explicit Claimant(std::uint16_t port)
      : store(open_store(port)),
        watch(base::value_or_throw(store->watch("job", [this](const auto& notice) {
          granted = notice.granted == claim.id;
          ++calls;
        }))) {
    claim.waits = true;
    // Where the server was slow, it is not listened to yet.
    EXPECT_TRUE(
        eventually([this] { return expect<store::Busy>(store->claim("job", claim)).pending; }));
    calls = 0;
  }

  [[nodiscard]] bool is_told() const {
    return eventually([this] { return calls > 0; });
  }
  [[nodiscard]] base::Result<store::ClaimOutcome> ask() { return store->claim("job", claim); }

  store::Claim claim = wish();
  std::atomic<bool> granted = false;  // as the last notice said
  std::atomic<int> calls = 0;
  std::unique_ptr<store::LeaseStore> store;
  store::Watch watch;
};

// The name "job", which is held, and may be given to a claimant.
class Given : public HeldJob {
 protected:
  // Tells the only store that listens that its claim was granted, as anybody can who may publish.
  void forge_grant(Claimant& waiting) {
    waiting.calls = 0;
    const std::string channels = run({"PUBSUB", "CHANNELS", "hf:wake:*"});  // [its channel]
    ASSERT_EQ(run({"PUBLISH", channels.substr(1, channels.size() - 2),
                   "grant " + to_string(waiting.claim.id) + " job"}),
              "1");
    ASSERT_TRUE(waiting.is_told());
    EXPECT_TRUE(waiting.granted);
  }

  // The member of the queue that has waited longest.
  std::string first_in_queue() {
    const std::string all = run({"ZRANGE", kQueue, "0", "0"});  // [member]
    return all.substr(1, all.size() - 2);
  }
  // Says when a member has joined the queue, in microseconds; half a one more: before its store
  // listened, see queue.lua.
  void set_joined(const std::string& member, const std::string& time) {
    run({"ZADD", kQueue, "XX", time, member});
  }
  static constexpr const char* kLongAgo = "1000000000000000.5";
  static constexpr const char* kInTheFuture = "4000000000000000.5";  // whatever the clock says
  static constexpr const char* kLater = "4000000000000001";

  // Puts something else into a field of the note on "job": see record.lua.
  enum class Field : std::size_t { token, kept_until, granted, lasts, id };
  void change_note(Field field, const std::string& value) {
    std::istringstream words(run({"GET", "hf:{job}"}));
    std::string text;
    std::string word;
    for (std::size_t i = 0; std::getline(words, word, ' '); ++i) {
      text.append(i == 0 ? "" : " ").append(i == static_cast<std::size_t>(field) ? value : word);
    }
    run({"SET", "hf:{job}", words.str().ends_with(' ') ? text + " " : text, "KEEPTTL"});
  }
};

}  // namespace holdfast::tests
