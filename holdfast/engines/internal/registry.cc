#include <holdfast/engines/internal/registry.h>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/mutex.h>
#include <holdfast/base/printable.h>
#include <holdfast/base/process_mark.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/disabled_store.h>
#include <holdfast/engines/memory/memory_repository.h>
#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/engines/mongodb/mongo_repository.h>
#include <holdfast/engines/mongodb/mongo_store.h>
#include <holdfast/engines/mongodb/mongo_url.h>
#include <holdfast/engines/postgresql/postgres_repository.h>
#include <holdfast/engines/postgresql/postgres_store.h>
#include <holdfast/engines/postgresql/postgres_url.h>
#include <holdfast/engines/redis/redis_repository.h>
#include <holdfast/engines/redis/redis_store.h>
#include <holdfast/engines/redis/redis_url.h>
#include <holdfast/engines/sqlite/sqlite_repository.h>
#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/engines/store_url.h>
#include <holdfast/store/prefixed_store.h>

namespace holdfast::engines::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using store::LeaseStore;
using store::ObjectRepository;

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

// Returns the parts of a URL, if its options are those of the engine.
Result<StoreUrl> parse(const EngineInfo& engine, std::string_view text) {
  HOLDFAST_TRY_LET(StoreUrl url, StoreUrl::parse(text));
  HOLDFAST_TRY(check_options(engine, url));
  return url;
}

// Returns the option as a duration, or `otherwise` if it is not given.
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

// Returns an error for a URL with a prefix that opens objects.
template <class Seam>
Result<void> check_prefix(const StoreUrl& url) {
  if (std::is_same_v<Seam, store::ObjectRepository> && url.options.contains("prefix")) {
    return fail(ErrorCode::invalid_argument,
                url.scheme + ": 'prefix' is for locks: objects are kept apart by their types");
  }
  return {};
}

// Returns the store as the option `prefix` of the URL wants to see it.
Opened<store::LeaseStore> below_prefix(const StoreUrl& url,
                                       std::shared_ptr<store::LeaseStore> store) {
  const auto prefix = url.options.find("prefix");
  return prefix == url.options.end() ? std::move(store)
                                     : store::with_prefix(std::move(store), prefix->second);
}

Opened<store::ObjectRepository> below_prefix(const StoreUrl&,
                                             std::shared_ptr<store::ObjectRepository> repository) {
  return repository;
}

// The named instances of one process.
template <class Memory>
struct Instances {
  const base::ProcessMark process;
  base::Mutex mutex;
  std::map<std::string, std::weak_ptr<Memory>> by_name HOLDFAST_GUARDED_BY(mutex);
};

// Returns the instances of this process. A forked child begins with none: it leaves those of its
// parent alone, whose threads may have been at work on them.
template <class Memory>
Instances<Memory>& instances() {
  static std::atomic<Instances<Memory>*> current{new Instances<Memory>};
  Instances<Memory>* inherited = current.load();
  if (inherited->process.is_inherited()) {
    auto fresh = std::make_unique<Instances<Memory>>();
    if (current.compare_exchange_strong(inherited, fresh.get())) {
      static_cast<void>(fresh.release());
    }
  }
  return *current.load();
}

// Returns the instance that this process has under this name, and makes it if there is none. It
// lives as long as one of its users.
template <class Memory>
std::shared_ptr<Memory> shared_in_process(const std::string& name) {
  Instances<Memory>& all = instances<Memory>();
  const base::MutexLock lock(all.mutex);
  std::erase_if(all.by_name, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<Memory>& instance = all.by_name[name];
  std::shared_ptr<Memory> shared = instance.lock();
  if (shared == nullptr) {
    shared = std::make_shared<Memory>();
    instance = shared;
  }
  return shared;
}

template <class Seam, class Memory>
Opened<Seam> open_memory(const EngineInfo& engine, std::string_view text, const base::Logger&) {
  HOLDFAST_TRY_LET(const StoreUrl url, parse(engine, text));
  HOLDFAST_TRY(check_prefix<Seam>(url));
  if (url.rest.contains('/')) {
    return fail(ErrorCode::invalid_argument,
                "memory: has no path, only a name such as memory:jobs: it ends with the process");
  }
  return below_prefix(
      url, std::shared_ptr<Seam>(url.rest.empty() ? std::make_shared<Memory>()
                                                  : shared_in_process<Memory>(url.rest)));
}

Result<std::optional<std::uint32_t>> mode_option(const StoreUrl& url) {
  const auto option = url.options.find("mode");
  if (option == url.options.end()) {
    return std::nullopt;
  }
  const std::string& text = option->second;
  std::uint32_t mode = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fail(ErrorCode::invalid_argument,
                "mode: '" + base::printable(text) + "' is not a mode of a file, as in mode=0660");
  }
  return mode;
}

Result<sqlite::SqliteOptions> sqlite_options(const StoreUrl& url, const base::Logger& logger) {
  if (url.rest.empty()) {
    return fail(ErrorCode::invalid_argument,
                "sqlite: needs the path of a file, as in sqlite:/path/to/file.db");
  }
  sqlite::SqliteOptions options{.file = url.rest, .logger = logger};
  HOLDFAST_TRY_LET(options.busy_timeout,
                   duration_option(url, "busy_timeout", options.busy_timeout));
  HOLDFAST_TRY_LET(options.retention, duration_option(url, "retention", options.retention));
  HOLDFAST_TRY_LET(options.mode, mode_option(url));
  return options;
}

template <class Seam>
Opened<Seam> open_sqlite(const EngineInfo& engine, std::string_view text,
                         const base::Logger& logger) {
  HOLDFAST_TRY_LET(const StoreUrl url, parse(engine, text));
  HOLDFAST_TRY(check_prefix<Seam>(url));
  HOLDFAST_TRY_LET(sqlite::SqliteOptions options, sqlite_options(url, logger));
  if constexpr (std::is_same_v<Seam, LeaseStore>) {
    HOLDFAST_TRY_LET(std::shared_ptr<LeaseStore> store, sqlite::open_store(std::move(options)));
    return below_prefix(url, std::move(store));
  } else {
    return sqlite::open_repository(std::move(options));
  }
}

template <class Seam>
Opened<Seam> open_redis(const EngineInfo&, std::string_view text, const base::Logger& logger) {
  HOLDFAST_TRY_LET(redis::RedisOptions options, redis::parse_redis_url(text));
  options.logger = logger;
  if constexpr (std::is_same_v<Seam, LeaseStore>) {
    return redis::open_store(std::move(options));
  } else {
    return redis::open_repository(std::move(options));
  }
}

template <class Seam>
Opened<Seam> open_mongodb(const EngineInfo&, std::string_view text, const base::Logger& logger) {
  HOLDFAST_TRY_LET(mongodb::MongoOptions options, mongodb::parse_mongo_url(text));
  options.logger = logger;
  if constexpr (std::is_same_v<Seam, LeaseStore>) {
    return mongodb::open_store(std::move(options));
  } else {
    return mongodb::open_repository(std::move(options));
  }
}

template <class Seam>
Opened<Seam> open_postgresql(const EngineInfo&, std::string_view text, const base::Logger& logger) {
  HOLDFAST_TRY_LET(postgresql::PostgresOptions options, postgresql::parse_postgres_url(text));
  options.logger = logger;
  if constexpr (std::is_same_v<Seam, LeaseStore>) {
    return postgresql::open_store(std::move(options));
  } else {
    return postgresql::open_repository(std::move(options));
  }
}

Opened<LeaseStore> open_disabled(const EngineInfo& engine, std::string_view text,
                                 const base::Logger&) {
  HOLDFAST_TRY_LET(const StoreUrl url, parse(engine, text));
  if (!url.rest.empty()) {
    return fail(ErrorCode::invalid_argument, "disabled: stands alone: there is nothing to open");
  }
  return std::make_shared<DisabledStore>();
}

Opened<ObjectRepository> open_no_repository(const EngineInfo&, std::string_view,
                                            const base::Logger&) {
  return fail(ErrorCode::unsupported, "disabled: is for locks: objects need a store, or memory:");
}

Engine disabled_engine() {
  return {.info = {.scheme = "disabled",
                   .url = "disabled:",
                   .about = "switched off: every operation is unavailable at once",
                   .options = {}},
          .open_store = open_disabled,
          .open_repository = open_no_repository};
}

Engine memory_engine() {
  return {.info = {.scheme = "memory",
                   .url = "memory:",
                   .about = "this process only: memory:NAME is shared within it, memory: is not",
                   .options = {"prefix="}},
          .open_store = open_memory<LeaseStore, memory::MemoryStore>,
          .open_repository = open_memory<ObjectRepository, memory::MemoryRepository>};
}

Engine sqlite_engine() {
  return {.info = {.scheme = "sqlite",
                   .url = "sqlite:/path/to/file.db",
                   .about = "all processes of this machine, in one file",
                   .options = {"busy_timeout=5s", "mode=0644", "prefix=", "retention=1h"}},
          .open_store = open_sqlite<LeaseStore>,
          .open_repository = open_sqlite<ObjectRepository>};
}

Engine redis_engine(const std::string& scheme, const std::string& rest, std::string about) {
  return {.info = {.scheme = scheme,
                   .url = scheme + "://" + rest,
                   .about = std::move(about),
                   .options = redis::redis_url_options(scheme)},
          .open_store = open_redis<LeaseStore>,
          .open_repository = open_redis<ObjectRepository>};
}

Engine mongodb_engine(const std::string& scheme, const std::string& rest, std::string about) {
  return {.info = {.scheme = scheme,
                   .url = scheme + "://" + rest,
                   .about = std::move(about),
                   .options = mongodb::mongo_url_options()},
          .open_store = open_mongodb<LeaseStore>,
          .open_repository = open_mongodb<ObjectRepository>};
}

Engine postgresql_engine(const std::string& scheme, std::string about) {
  return {.info = {.scheme = scheme,
                   .url = scheme + "://host:5432/database",
                   .about = std::move(about),
                   .options = postgresql::postgres_url_options()},
          .open_store = open_postgresql<LeaseStore>,
          .open_repository = open_postgresql<ObjectRepository>};
}

}  // namespace

const std::vector<Engine>& engines() {
  static const std::vector<Engine> kEngines = {
      memory_engine(),
      sqlite_engine(),
      redis_engine("redis", "host:6379", "all machines that reach a Redis or Valkey server"),
      redis_engine("rediss", "host:6379", "the same over TLS"),
      redis_engine("redis+unix", "/path/to/redis.sock", "the same over a socket of this machine"),
      redis_engine("redis+sentinel", "host,host/master",
                   "all machines that reach the Redis servers that Sentinels watch"),
      redis_engine("rediss+sentinel", "host,host/master", "the same over TLS"),
      mongodb_engine("mongodb", "host:27017/database",
                     "all machines that reach a MongoDB server or replica set"),
      mongodb_engine("mongodb+srv", "name/database", "the same, its servers found by DNS"),
      postgresql_engine("postgresql", "all machines that reach a PostgreSQL server"),
      postgresql_engine("postgres", "the same, by its other name"),
      disabled_engine(),
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
  HOLDFAST_TRY_LET(const StoreUrl parts, StoreUrl::parse(url));
  std::string message = "there is no engine '" + parts.scheme + "'; there are";
  for (const Engine& engine : engines()) {
    message += " " + engine.info.url;
  }
  return fail(ErrorCode::invalid_argument, message);
}

}  // namespace holdfast::engines::internal
