#include <holdfast/engines/mongodb/internal/client.h>

#include <algorithm>
#include <limits>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>

namespace holdfast::engines::mongodb::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

std::int32_t milliseconds(base::Duration time) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
      std::chrono::ceil<std::chrono::milliseconds>(time).count(), 1, kMost));
}

}  // namespace

Result<Address> Address::make(const MongoOptions& options) {
  HOLDFAST_TRY_LET(const auto driver, Driver::load());
  bson_error_t error{};
  std::unique_ptr<mongoc_uri_t, FreeUri> uri(
      driver->uri_new_with_error(options.uri.c_str(), &error), FreeUri{driver});
  if (uri == nullptr) {
    // The driver's message has no password in it: it names the part that is wrong.
    return fail(ErrorCode::invalid_argument,
                "not the URL of a MongoDB server: " + base::printable(error.message));
  }
  if (!driver->write_concern_is_default(driver->uri_get_write_concern(uri.get()))) {
    return fail(ErrorCode::invalid_argument,
                "the write concern belongs into MongoOptions::write_concern, not into its uri");
  }
  const auto set = [&](const char* name, base::Duration time) {
    driver->uri_set_option_as_int32(uri.get(), name, milliseconds(time));
  };
  set(MONGOC_URI_CONNECTTIMEOUTMS, options.connect_timeout);
  set(MONGOC_URI_SERVERSELECTIONTIMEOUTMS, options.reply_timeout);
  set(MONGOC_URI_SOCKETTIMEOUTMS, options.reply_timeout);
  driver->uri_set_option_as_bool(uri.get(), MONGOC_URI_RETRYWRITES, true);
  return Address{.driver = driver,
                 .uri = std::move(uri),
                 .database = options.database,
                 .connect_timeout = options.connect_timeout};
}

Client::Client(const Address& address, const std::atomic<bool>* stop) noexcept
    : address_(address), patience_{.stop = stop} {}

Result<std::unique_ptr<Client>> Client::make(const Address& address,
                                             const std::atomic<bool>* stop) {
  std::unique_ptr<Client> client(new Client(address, stop));
  const Driver& driver = *address.driver;
  bson_error_t error{};
  client->client_ = driver.client_new_from_uri_with_error(address.uri.get(), &error);
  if (client->client_ == nullptr) {
    return fail(ErrorCode::unavailable,
                "there is no connection to MongoDB: " + base::printable(error.message));
  }
  driver.client_set_error_api(client->client_, MONGOC_ERROR_API_VERSION_2);
  driver.client_set_stream_initiator(client->client_, &Client::connect, client.get());
  return client;
}

Client::~Client() {
  if (client_ != nullptr) {
    // Saying good-bye must not take long.
    patience_.deadline =
        base::Deadline::after(base::steady_clock(), std::chrono::milliseconds(100));
    address_.driver->client_destroy(client_);
  }
}

mongoc_stream_t* Client::connect(const mongoc_uri_t* uri, const mongoc_host_list_t* host,
                                 void* context, bson_error_t* /*error*/) {
  auto& self = *static_cast<Client*>(context);
  std::string failure;
  mongoc_stream_t* const plain =
      connect_stream(*host, self.address_.connect_timeout, self.patience_, failure);
  if (!failure.empty()) {
    self.connect_failure_ = std::move(failure);
    return plain;
  }
  self.has_connected_ = true;
  return self.address_.driver->uri_get_tls(uri) ? self.with_tls(*uri, *host, plain) : plain;
}

void Client::begin(base::Deadline deadline) {
  patience_.deadline = deadline;
  patience_.bytes_left = Patience::kMostBytes;
  connect_failure_.clear();
  has_connected_ = false;
}

Trouble Client::trouble(const bson_error_t& error, const Bson& reply) const {
  Trouble trouble = trouble_of(error, reply);
  if (patience_.bytes_left == 0) {
    trouble.kind = Trouble::Kind::refused;
    trouble.code = Trouble::kTooLong;
    trouble.connection_is_bad = true;
  } else if (trouble.kind == Trouble::Kind::not_done && trouble.code == 0 &&
             !connect_failure_.empty()) {
    // The driver only says that it has found no server.
    trouble.message = base::printable(connect_failure_);
    trouble.is_unreachable = !has_connected_;
  }
  return trouble;
}

// The driver shakes hands itself, when it first uses the stream.
mongoc_stream_t* Client::with_tls(const mongoc_uri_t& uri, const mongoc_host_list_t& host,
                                  mongoc_stream_t* plain) {
  const Driver& driver = *address_.driver;
  const auto text = [&](const char* name) {
    return driver.uri_get_option_as_utf8(&uri, name, nullptr);
  };
  const auto flag = [&](const char* name) {
    return driver.uri_get_option_as_bool(&uri, name, false);
  };
  mongoc_ssl_opt_t options{};
  options.pem_file = text(MONGOC_URI_TLSCERTIFICATEKEYFILE);
  options.pem_pwd = text(MONGOC_URI_TLSCERTIFICATEKEYFILEPASSWORD);
  options.ca_file = text(MONGOC_URI_TLSCAFILE);
  const bool anybody = flag(MONGOC_URI_TLSINSECURE);
  options.weak_cert_validation = anybody || flag(MONGOC_URI_TLSALLOWINVALIDCERTIFICATES);
  options.allow_invalid_hostname = anybody || flag(MONGOC_URI_TLSALLOWINVALIDHOSTNAMES);
  mongoc_stream_t* const tls =
      driver.stream_tls_new_with_hostname(plain, host.host, &options, 1 /* as the client */);
  if (tls == nullptr) {
    driver.stream_destroy(plain);
    connect_failure_ = std::string("TLS cannot be set up for ") + host.host_and_port +
                       ": check the certificate files";
    return broken_stream(patience_);
  }
  return tls;
}

std::expected<Bson, Trouble> Client::write(const Bson& command, base::Deadline deadline) {
  begin(deadline);
  Bson reply;
  bson_error_t error{};
  if (!address_.driver->client_write_command_with_opts(
          client_, address_.database.c_str(), command.get(), nullptr, reply.reset(), &error)) {
    return std::unexpected(trouble(error, reply));
  }
  return reply;
}

std::expected<Bson, Trouble> Client::read(const Bson& command, base::Deadline deadline) {
  begin(deadline);
  Bson reply;
  bson_error_t error{};
  if (!address_.driver->client_command_with_opts(client_, address_.database.c_str(), command.get(),
                                                 nullptr, nullptr, reply.reset(), &error)) {
    return std::unexpected(trouble(error, reply));
  }
  return reply;
}

std::expected<Greeting, Trouble> Client::greet(base::Deadline deadline) {
  begin(deadline);
  const Driver& driver = *address_.driver;
  bson_error_t error{};
  mongoc_server_description_t* const server =
      driver.client_select_server(client_, true /* for writes */, nullptr, &error);
  if (server == nullptr) {
    return std::unexpected(trouble(error, Bson()));
  }
  Greeting greeting;
  bson_iter_t place;
  if (bson_iter_init(&place, driver.server_description_hello_response(server))) {
    while (bson_iter_next(&place)) {
      const BsonValue value(place);
      if (value.key() == "maxWireVersion") {
        greeting.wire_version = value.integer().value_or(0);
      } else if (value.key() == "setName") {
        greeting.set_name = value.text().value_or("");
      } else if (value.key() == "msg") {
        greeting.is_router = value.text() == "isdbgrid";
      } else if (value.key() == "localTime") {
        greeting.local_time = value.date().value_or(Date{});
      }
    }
  }
  driver.server_description_destroy(server);
  return greeting;
}

}  // namespace holdfast::engines::mongodb::internal
