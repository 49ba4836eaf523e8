#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <tests/support/temporary_folder.h>

#include <holdfast/fence/mongo_guard.h>

namespace holdfast::tests {
namespace {

using base::FencingToken;
using Json = nlohmann::json;

// The filter and the update as mongomock, which speaks MongoDB's language without a server, sees
// them.
class Mongomock : public ::testing::Test {
 protected:
  void document(const Json& document) { requests_ << Json{{"document", document}} << '\n'; }
  void write(std::uint64_t token, const std::string& value, bool upsert = false,
             const std::string& id = "anna") {
    requests_
        << Json{{"filter", base::value_or_throw(fence::mongo_filter(id, FencingToken{token}))},
                {"fields", base::value_or_throw(fence::mongo_fence_fields(FencingToken{token}))},
                {"value", value},
                {"upsert", upsert}}
        << '\n';
  }
  // The outcome of all the writes.
  std::string outcomes() {
    const TemporaryFolder folder;
    std::ofstream(folder / "requests") << requests_.str();
    const std::string command = std::string(HOLDFAST_PYTHON " " HOLDFAST_MONGOMOCK_WRITES " <") +
                                (folder / "requests").string();
    const std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(command.c_str(), "r"), &::pclose);
    std::string text;
    for (int c = std::fgetc(output.get()); c != EOF; c = std::fgetc(output.get())) {
      text += static_cast<char>(c);
    }
    return text;
  }

 private:
  std::ostringstream requests_;
};

TEST_F(Mongomock, AnOlderTokenIsRefusedAndAnEqualOneAccepted) {
  document({{"_id", "anna"}, {"value", "none"}});
  write(7, "seven");
  write(6, "six");
  write(7, "seven again");
  write(8, "eight");
  write(7, "late");
  EXPECT_EQ(outcomes(),
            "matched: seven\nnot matched: seven\nmatched: seven again\nmatched: eight\n"
            "not matched: eight\n");
}

TEST_F(Mongomock, AnUpsertMakesTheDocumentOrIsADuplicate) {
  write(7, "seven", /*upsert=*/true);
  write(6, "six", /*upsert=*/true);
  write(7, "seven again", /*upsert=*/true);
  EXPECT_EQ(outcomes(), "made: seven\nduplicate key: seven\nmatched: seven again\n");
}

TEST_F(Mongomock, TokensCompareAsWholeNumbers) {
  document({{"_id", "anna"}, {"fence", 9}});
  write(10, "ten");
  write(9, "nine");
  write(1'700'000'000'000'001, "odd");
  write(1'700'000'000'000'000, "even");
  EXPECT_EQ(outcomes(), "matched: ten\nnot matched: ten\nmatched: odd\nnot matched: odd\n");
}

TEST_F(Mongomock, AFenceThatIsNotANumberIsPassedByNobody) {
  std::string expected;
  for (const Json& fence : {Json("9"), Json(nullptr), Json(Json::object()), Json({1, 99}),
                            Json({1}), Json(Json::array())}) {
    document({{"_id", "anna"}, {"value", "untouched"}, {"fence", fence}});
    write(7, "seven");
    expected += "not matched: untouched\n";
  }
  EXPECT_EQ(outcomes(), expected);
}

TEST_F(Mongomock, AnIdWithAnyCharactersIsEscaped) {
  const std::string id = "{\"$ne\": 1} \\ \n \u20ac";
  document({{"_id", id}, {"value", "none"}});
  write(7, "seven", /*upsert=*/false, id);
  EXPECT_EQ(outcomes(), "matched: seven\n");
}

}  // namespace
}  // namespace holdfast::tests
