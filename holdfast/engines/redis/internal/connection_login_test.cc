#include <gtest/gtest.h>

#include <holdfast/engines/redis/internal/connection.h>
#include <holdfast/engines/redis/internal/connection_testing.h>

namespace holdfast::engines::redis::internal {
namespace {

using base::ErrorCode;
using tests::RedisServer;

// Returns why the server cannot be used; never with a password in it.
std::string refusal(RedisOptions options) {
  options.connect_timeout = std::chrono::seconds(30);
  const std::string password = options.password;
  const auto reply = Connection(std::move(options)).call(Command("PING"), patience());
  EXPECT_FALSE(reply);
  if (reply) {
    return "";
  }
  EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(password.empty() || reply.error().message.find(password) == std::string::npos);
  return reply.error().message;
}

TEST(ConnectionLogin, ThePasswordOpensTheDoor) {
  RedisServer server({.arguments = {"--requirepass", "open sesame"}});
  RedisOptions options = options_for(server);
  options.password = "open sesame";
  const auto connection = open_connection(options);
  EXPECT_EQ(text_of(connection->call(Command("ECHO", "in"), patience())), "in");

  options.password = "open barley";
  EXPECT_NE(refusal(options).find("check both"), std::string::npos);
  options.password = "";
  EXPECT_NE(refusal(options).find("asks for a password"), std::string::npos);
}

TEST(ConnectionLogin, AUserOfTheAccessListMayDoWhatItMay) {
  RedisServer server(
      {.arguments = {"--user", "worker", "on", ">pa:ss", "~*", "&*", "+ping", "+echo"}});
  RedisOptions options =
      options_of("redis://worker:pa%3Ass@127.0.0.1:" + std::to_string(server.port()));
  const auto connection = open_connection(options);
  EXPECT_EQ(text_of(connection->call(Command("ECHO", "in"), patience())), "in");
  EXPECT_TRUE(text_of(connection->call(Command("GET", "x"), patience())).contains("NOPERM"));
  options.user = "stranger";
  EXPECT_NE(refusal(options).find("check both"), std::string::npos);
}

TEST(ConnectionLogin, TheDatabaseIsTheOneAskedFor) {
  RedisServer server;
  const auto zero = open_connection(options_for(server));
  const auto five = open_connection(options_of(server.url() + "/5"));
  EXPECT_TRUE(five->call(Command("SET", "k", "v"), patience()));
  EXPECT_TRUE(zero->call(Command("GET", "k"), patience())->is_nil());
  EXPECT_EQ(text_of(five->call(Command("GET", "k"), patience())), "v");
  EXPECT_NE(refusal(options_of(server.url() + "/99")).find("database 99"), std::string::npos);
}

TEST(ConnectionLogin, TheDatabaseIsChosenAgainOnANewConnection) {
  RedisServer server({.arguments = {"--requirepass", "pw"}});
  RedisOptions options = options_for(server);
  options.password = "pw";
  options.database = 5;
  const auto connection = open_connection(options);
  server.restart();
  EXPECT_TRUE(connection->call(Command("SET", "k", "v"), patience()));
  EXPECT_TRUE(connection->call(Command("SELECT", 0), patience()));
  EXPECT_TRUE(connection->call(Command("GET", "k"), patience())->is_nil());
}

TEST(ConnectionLogin, AUnixSocketDoes) {
  RedisServer server;
  const auto connection = open_connection(options_of(server.unix_url()));
  EXPECT_EQ(text_of(connection->call(Command("ECHO", "in"), patience())), "in");
  RedisOptions nowhere;
  nowhere.unix_socket = (server.folder() / "nobody.sock").string();
  EXPECT_NE(refusal(nowhere).find("nobody.sock"), std::string::npos);
}

TEST(ConnectionLogin, AServerThatIsFullSaysSo) {
  RedisServer server({.arguments = {"--maxclients", "1"}});
  const auto only = open_connection(options_for(server));
  EXPECT_NE(refusal(options_for(server)).find("max number of clients"), std::string::npos);
}

class ConnectionTls : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = std::make_unique<RedisServer>(RedisServer::Options{.tls = true});
  }
  static void TearDownTestSuite() { server_.reset(); }

  static RedisOptions trusting(const std::filesystem::path& authority) {
    return {.host = "127.0.0.1",
            .port = server_->tls_port(),
            .tls = TlsOptions{.ca_file = authority.string()}};
  }

  static inline std::unique_ptr<RedisServer> server_;
};

TEST_F(ConnectionTls, SpeaksWithAServerOfATrustedAuthority) {
  const auto by_name = open_connection(options_of(server_->tls_url()));
  EXPECT_EQ(text_of(by_name->call(Command("ECHO", "in"), patience())), "in");
  const auto by_address = open_connection(trusting(server_->authority()));
  EXPECT_EQ(text_of(by_address->call(Command("ECHO", "in"), patience())), "in");
}

TEST_F(ConnectionTls, PassesMoreThanOneRecord) {
  const auto connection = open_connection(trusting(server_->authority()));
  const std::string big(std::size_t{1} << 20U, 'x');
  const std::vector<Command> commands(4, Command("ECHO", big));
  for (const auto& reply : connection->call_all(commands, patience())) {
    EXPECT_EQ(text_of(reply).size(), big.size());
  }
}

TEST_F(ConnectionTls, RefusesAServerOfAnUnknownAuthority) {
  EXPECT_NE(refusal(trusting(server_->strange_authority())).find("certificate is refused"),
            std::string::npos);
}

TEST_F(ConnectionTls, RefusesACertificateOfAnotherHost) {
  RedisOptions options = trusting(server_->authority());
  options.host = "127.0.0.2";
  EXPECT_NE(refusal(options).find("certificate is refused"), std::string::npos);
}

TEST_F(ConnectionTls, TrustsAnybodyOnlyIfToldTo) {
  RedisOptions options = trusting(server_->strange_authority());
  options.host = "127.0.0.2";
  options.tls->verify = TlsOptions::Verify::none;
  const auto connection = open_connection(options);
  EXPECT_EQ(text_of(connection->call(Command("ECHO", "in"), patience())), "in");
}

TEST_F(ConnectionTls, NamesAFileThatCannotBeUsed) {
  const auto reply =
      Connection(trusting(server_->folder() / "nothing.pem")).call(Command("PING"), patience());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(reply.error().message.find("nothing.pem"), std::string::npos);
}

TEST_F(ConnectionTls, DoesNotWaitForAServerWithoutTls) {
  RedisOptions options = trusting(server_->authority());
  options.port = server_->port();
  options.connect_timeout = std::chrono::milliseconds(100);
  const auto reply = Connection(options).call(Command("PING"), patience());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
