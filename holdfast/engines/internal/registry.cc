#include <holdfast/engines/internal/registry.h>

#include <string>
#include <utility>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/printable.h>
#include <holdfast/engines/memory/memory_repository.h>
#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/engines/mongodb/mongo_repository.h>
#include <holdfast/engines/mongodb/mongo_store.h>
#include <holdfast/engines/mongodb/mongo_url.h>
#include <holdfast/engines/redis/redis_repository.h>
#include <holdfast/engines/redis/redis_store.h>
#include <holdfast/engines/redis/redis_url.h>
#include <holdfast/engines/sqlite/sqlite_repository.h>
#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/engines/store_url.h>

namespace holdfast::engines::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

bool knows_option(const EngineInfo& engine, std::string_view option) {
  for (const std::string& known : engine.options) {
    if (std::string_view(known).substr(0, known.find('=')) == option) {
      return true;
    }
  }
  return false;
}

Result<void> check_options(const EngineInfo& engine, const StoreUrl& url) {
  for (const auto& [option, value] : url.options) {
    if (knows_option(engine, option)) {
      continue;
    }
    std::string message = engine.scheme + ": has no option '" + base::printable(option) + "'";
    std::string_view separator = "; it has ";
    for (const std::string& known : engine.options) {
      message.append(separator).append(known);
      separator = ", ";
    }
    return fail(ErrorCode::invalid_argument,
                engine.options.empty() ? message + " (none)" : message);
  }
  return {};
}

// The parts of a URL whose options are those of the engine.
Result<StoreUrl> parse(const EngineInfo& engine, std::string_view text) {
  Result<StoreUrl> url = StoreUrl::parse(text);
  if (url) {
    if (auto known = check_options(engine, *url); !known) {
      return std::unexpected(std::move(known).error());
    }
  }
  return url;
}

// The option as a duration, or `otherwise` if it is not given.
Result<base::Duration> duration_option(const StoreUrl& url, const std::string& option,
                                       base::Duration otherwise) {
  const auto found = url.options.find(option);
  if (found == url.options.end()) {
    return otherwise;
  }
  auto value = base::parse_duration(found->second);
  if (!value) {
    return fail(ErrorCode::invalid_argument, option + ": " + value.error().message);
  }
  return value;
}

// `Seam` is LeaseStore or ObjectRepository, the others are the classes that an engine has for it.
template <class Seam>
using Opened = Result<std::shared_ptr<Seam>>;

template <class Seam, class Memory>
Opened<Seam> open_memory(const EngineInfo& engine, std::string_view text, const base::Logger&) {
  const Result<StoreUrl> url = parse(engine, text);
  if (!url) {
    return std::unexpected(url.error());
  }
  if (!url->rest.empty()) {
    return fail(ErrorCode::invalid_argument,
                "memory: has no path: it lives and ends with the process");
  }
  return std::make_shared<Memory>();
}

Result<sqlite::SqliteOptions> sqlite_options(const EngineInfo& engine, std::string_view text,
                                             const base::Logger& logger) {
  const Result<StoreUrl> url = parse(engine, text);
  if (!url) {
    return std::unexpected(url.error());
  }
  if (url->rest.empty()) {
    return fail(ErrorCode::invalid_argument,
                "sqlite: needs the path of a file, as in sqlite:/path/to/file.db");
  }
  sqlite::SqliteOptions options{.file = url->rest, .logger = logger};
  const auto busy_timeout = duration_option(*url, "busy_timeout", options.busy_timeout);
  if (!busy_timeout) {
    return std::unexpected(busy_timeout.error());
  }
  const auto retention = duration_option(*url, "retention", options.retention);
  if (!retention) {
    return std::unexpected(retention.error());
  }
  options.busy_timeout = *busy_timeout;
  options.retention = *retention;
  return options;
}

template <class Seam, class Sqlite>
Opened<Seam> open_sqlite(const EngineInfo& engine, std::string_view text,
                         const base::Logger& logger) {
  Result<sqlite::SqliteOptions> options = sqlite_options(engine, text, logger);
  if (!options) {
    return std::unexpected(std::move(options).error());
  }
  return Sqlite::open(*std::move(options));
}

template <class Seam, class Redis>
Opened<Seam> open_redis(const EngineInfo&, std::string_view text, const base::Logger& logger) {
  Result<redis::RedisOptions> options = redis::parse_redis_url(text);
  if (!options) {
    return std::unexpected(std::move(options).error());
  }
  options->logger = logger;
  return Redis::open(*std::move(options));
}

template <class Seam, class Mongo>
Opened<Seam> open_mongodb(const EngineInfo&, std::string_view text, const base::Logger& logger) {
  Result<mongodb::MongoOptions> options = mongodb::parse_mongo_url(text);
  if (!options) {
    return std::unexpected(std::move(options).error());
  }
  options->logger = logger;
  return Mongo::open(*std::move(options));
}

using store::LeaseStore;
using store::ObjectRepository;

Engine memory_engine() {
  return {.info = {.scheme = "memory",
                   .url = "memory:",
                   .about = "this process only; gone when it ends",
                   .options = {}},
          .open_store = open_memory<LeaseStore, memory::MemoryStore>,
          .open_repository = open_memory<ObjectRepository, memory::MemoryRepository>};
}

Engine sqlite_engine() {
  return {.info = {.scheme = "sqlite",
                   .url = "sqlite:/path/to/file.db",
                   .about = "all processes of this machine, in one file",
                   .options = {"busy_timeout=5s", "retention=1h"}},
          .open_store = open_sqlite<LeaseStore, sqlite::SqliteStore>,
          .open_repository = open_sqlite<ObjectRepository, sqlite::SqliteRepository>};
}

Engine redis_engine(const std::string& scheme, const std::string& rest, std::string about) {
  return {.info = {.scheme = scheme,
                   .url = scheme + "://" + rest,
                   .about = std::move(about),
                   .options = redis::redis_url_options(scheme)},
          .open_store = open_redis<LeaseStore, redis::RedisStore>,
          .open_repository = open_redis<ObjectRepository, redis::RedisRepository>};
}

Engine mongodb_engine(const std::string& scheme, const std::string& rest, std::string about) {
  return {.info = {.scheme = scheme,
                   .url = scheme + "://" + rest,
                   .about = std::move(about),
                   .options = mongodb::mongo_url_options()},
          .open_store = open_mongodb<LeaseStore, mongodb::MongoStore>,
          .open_repository = open_mongodb<ObjectRepository, mongodb::MongoRepository>};
}

}  // namespace

const std::vector<Engine>& engines() {
  static const std::vector<Engine> kEngines = {
      memory_engine(),
      sqlite_engine(),
      redis_engine("redis", "host:6379", "all machines that reach a Redis or Valkey server"),
      redis_engine("rediss", "host:6379", "the same over TLS"),
      redis_engine("redis+unix", "/path/to/redis.sock", "the same over a socket of this machine"),
      mongodb_engine("mongodb", "host:27017/database",
                     "all machines that reach a MongoDB server or replica set"),
      mongodb_engine("mongodb+srv", "name/database", "the same, its servers found by DNS"),
  };
  return kEngines;
}

Result<const Engine*> engine_of(std::string_view url) {
  const std::string_view scheme = url.substr(0, url.find(':'));
  for (const Engine& engine : engines()) {
    if (engine.info.scheme == scheme) {
      return &engine;
    }
  }
  const Result<StoreUrl> parts = StoreUrl::parse(url);
  if (!parts) {
    return std::unexpected(parts.error());
  }
  std::string message = "there is no engine '" + parts->scheme + "'; there are";
  for (const Engine& engine : engines()) {
    message += " " + engine.info.url;
  }
  return fail(ErrorCode::invalid_argument, message);
}

}  // namespace holdfast::engines::internal
