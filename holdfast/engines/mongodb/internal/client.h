#pragma once

#include <atomic>
#include <expected>
#include <memory>
#include <string>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/mongodb/internal/bson.h>
#include <holdfast/engines/mongodb/internal/driver.h>
#include <holdfast/engines/mongodb/internal/socket_stream.h>
#include <holdfast/engines/mongodb/internal/trouble.h>
#include <holdfast/engines/mongodb/mongo_options.h>

namespace holdfast::engines::mongodb::internal {

// The values that are the same for all clients of a store.
struct Address {
  struct FreeUri {
    const Driver* driver;
    void operator()(mongoc_uri_t* made) const noexcept { driver->uri_destroy(made); }
  };

  const Driver* driver;
  std::unique_ptr<mongoc_uri_t, FreeUri> uri;
  std::string database;
  base::Duration connect_timeout;

  // Understands the options, and loads the driver.
  [[nodiscard]] static base::Result<Address> make(const MongoOptions& options);
};

// A server's description of itself.
struct Greeting {
  std::int64_t wire_version = 0;
  bool is_router = false;  // of a sharded cluster
  std::string set_name{};
  Date local_time{};
};

// One client of the driver, with a connection of its own to each server that it needs. For one
// thread at a time. Every call ends by its deadline, give or take what the resolver of host names
// takes.
class Client {
 public:
  // `stop`, if there is one, ends every call. Both outlive the client.
  [[nodiscard]] static base::Result<std::unique_ptr<Client>> make(
      const Address& address, const std::atomic<bool>* stop = nullptr);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Runs a command on the primary. A write may be repeated by the driver, with the number by which
  // the server knows it again.
  [[nodiscard]] std::expected<Bson, Trouble> write(const Bson& command, base::Deadline deadline);
  [[nodiscard]] std::expected<Bson, Trouble> read(const Bson& command, base::Deadline deadline);
  // Asks the primary.
  [[nodiscard]] std::expected<Greeting, Trouble> greet(base::Deadline deadline);

  // In a forked child: forgets everything without a word to the server.
  static void abandon(std::unique_ptr<Client> client) noexcept { (void)client.release(); }

 private:
  Client(const Address& address, const std::atomic<bool>* stop) noexcept;

  // Never null: see connect_stream.
  static mongoc_stream_t* connect(const mongoc_uri_t* uri, const mongoc_host_list_t* host,
                                  void* context, bson_error_t* error);
  [[nodiscard]] mongoc_stream_t* with_tls(const mongoc_uri_t& uri, const mongoc_host_list_t& host,
                                          mongoc_stream_t* plain);
  // Before and after a call of the driver.
  void begin(base::Deadline deadline);
  [[nodiscard]] Trouble trouble(const bson_error_t& error, const Bson& reply) const;

  const Address& address_;
  Patience patience_;
  // About the current call: why a connection could not be made, and whether another one could.
  std::string connect_failure_;
  bool has_connected_ = false;
  mongoc_client_t* client_ = nullptr;
};

}  // namespace holdfast::engines::mongodb::internal
