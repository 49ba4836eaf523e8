// Tests of the schema: how it is made, and by which user.

#include <string>
#include <thread>
#include <vector>

#include <tests/postgresql/postgres_test.h>

#include <holdfast/engines/postgresql/postgres_diagnosis.h>
#include <holdfast/engines/postgresql/postgres_schema.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using engines::postgresql::PostgresOptions;
using store::Claim;
using store::Grant;

class SchemaTest : public PostgresTest {
 protected:
  // A database of its own, with a user who may not create anything there.
  void make_database(const std::string& database) {
    client_.change("CREATE ROLE app_" + database + " LOGIN");
    client_.change("CREATE DATABASE " + database);
  }
  [[nodiscard]] static PostgresOptions as_app(const std::string& database) {
    std::string url = server().url(database);
    url.replace(url.find("postgres@"), 9, "app_" + database + "@");
    return {.conninfo = url, .connect_timeout = kPatientConnect};
  }
};

TEST_F(SchemaTest, ManyStoresMakeItAtTheSameTime) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back(
        [&, i] { expect<Grant>(another_store()->claim("job" + std::to_string(i), wish())); });
  }
  threads.clear();
  EXPECT_EQ(ask("SELECT obj_description('{schema}.records'::regclass, 'pg_class')"), "Holdfast 1");
  EXPECT_EQ(ask("SELECT count(*) FROM {schema}.records"), "8");
}

TEST_F(SchemaTest, AnyNameWillDo) {
  const auto store = opened({.conninfo = server().url(), .schema = "it's \"odd\"; {schema}"});
  const Claim claim = wish();
  expect<Grant>(store->claim("job", claim));
  EXPECT_EQ(base::value_or_throw(store->release("job", claim.id)), store::ReleaseOutcome::released);
}

TEST_F(SchemaTest, OneThatANewerHoldfastHasMadeIsLeftAsItIs) {
  expect<Grant>(store_->claim("job", wish()));
  change("COMMENT ON TABLE {schema}.records IS 'Holdfast 2'");
  const auto claimed = another_store()->claim("job", wish());
  ASSERT_FALSE(claimed);
  EXPECT_EQ(claimed.error().code, ErrorCode::unsupported);
  EXPECT_NE(claimed.error().message.find("newer Holdfast"), std::string::npos);
  const std::string sql = base::value_or_throw(engines::postgresql::schema_sql(options()));
  EXPECT_THROW(PostgresClient(server().conninfo()).run_all(sql), std::runtime_error);
  EXPECT_EQ(ask("SELECT obj_description('{schema}.records'::regclass, 'pg_class')"), "Holdfast 2");
}

TEST_F(SchemaTest, OneThatWasDroppedIsMadeAgain) {
  expect<Grant>(store_->claim("job", wish()));
  change("DROP SCHEMA {schema} CASCADE");
  expect<Grant>(store_->claim("job", wish()));
}

TEST_F(SchemaTest, AUserThatMayNotMakeItGetsTheStatement) {
  make_database("strict");
  const auto store = opened(as_app("strict"));
  const auto claimed = store->claim("job", wish());
  ASSERT_FALSE(claimed);
  EXPECT_EQ(claimed.error().code, ErrorCode::unavailable);
  const std::string statement = R"(CREATE SCHEMA "holdfast" AUTHORIZATION "app_strict")";
  ASSERT_NE(claimed.error().message.find(statement), std::string::npos) << claimed.error().message;
  PostgresClient(server().conninfo("strict")).change(statement);
  expect<Grant>(store->claim("job", wish()));
}

TEST_F(SchemaTest, AUserMayUseWhatAnAdministratorHasMade) {
  make_database("made");
  PostgresClient admin(server().conninfo("made"));
  const std::string sql = base::value_or_throw(engines::postgresql::schema_sql({}));
  admin.run_all(sql);
  admin.run_all(sql);  // what is there stays
  const auto store = opened(as_app("made"));
  const auto refused = store->claim("job", wish());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("let it use the schema"), std::string::npos);
  admin.run_all(
      "GRANT USAGE ON SCHEMA holdfast TO app_made;"
      "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA holdfast TO app_made;");
  const Claim claim = wish();
  expect<Grant>(store->claim("job", claim));
  expect<store::Busy>(store->claim("job", wish()));
  EXPECT_EQ(base::value_or_throw(store->release("job", claim.id)), store::ReleaseOutcome::released);
}

TEST_F(SchemaTest, NamesThatAreNotInUseAreForgotten) {
  PostgresOptions forgetful = options();
  forgetful.retention = 1s;
  const auto store = opened(forgetful);
  constexpr int kNames = 200;
  for (int i = 0; i < kNames; ++i) {
    const Claim claim = wish();
    expect<Grant>(store->claim("old" + std::to_string(i), claim));
    EXPECT_TRUE(store->release("old" + std::to_string(i), claim.id));
  }
  const Claim held = wish();
  expect<Grant>(store->claim("held", held));
  // The old names go when new ones come.
  int next = 0;
  EXPECT_TRUE(eventually([&] {
    const std::string name = "new" + std::to_string(++next);
    const Claim claim = wish();
    expect<Grant>(store->claim(name, claim));
    EXPECT_TRUE(store->release(name, claim.id));
    const std::string left = ask(
        "SELECT count(*) FROM {schema}.records WHERE starts_with(encode(name, 'escape'), 'old')");
    return std::stoi(left) < kNames / 2;
  }));
  EXPECT_EQ(holder("held"), held.id);
}

TEST_F(SchemaTest, ADiagnosisSaysWhatTheServerPromises) {
  const auto findings = base::value_or_throw(engines::postgresql::diagnose(options()));
  const auto of = [&](std::string_view name) {
    for (const auto& finding : findings) {
      if (finding.name == name) {
        return finding;
      }
    }
    ADD_FAILURE() << "no finding " << name;
    return store::Finding{};
  };
  EXPECT_EQ(of("version").level, store::Finding::Level::good);
  EXPECT_EQ(of("pooler").level, store::Finding::Level::good);
  EXPECT_EQ(of("durability").level, store::Finding::Level::bad);  // the test's server saves time
  EXPECT_EQ(of("synchronous_commit").level, store::Finding::Level::good);
  EXPECT_EQ(of("clock_offset").level, store::Finding::Level::good);
  EXPECT_EQ(of("autovacuum").level, store::Finding::Level::good);
  EXPECT_NE(of("replication").detail.find("no standby"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::tests
