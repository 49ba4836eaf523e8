#include <holdfast/engines/mongodb/internal/driver.h>

#include <dlfcn.h>

namespace holdfast::engines::mongodb::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr const char* kLibrary = "libmongoc-1.0.so.0";

class Loader {
 public:
  Loader()
      : was_loaded_(::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) != nullptr),
        library_(::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL)) {}

  // Somebody else in this process uses it, too.
  [[nodiscard]] bool was_loaded() const { return was_loaded_; }
  [[nodiscard]] bool is_open() const { return library_ != nullptr; }

  template <class Function>
  void get(const char* name, Function& into) {
    into = reinterpret_cast<Function>(::dlsym(library_, name));
    if (into == nullptr) {
      missing_ = name;
    }
  }

  [[nodiscard]] const char* missing() const { return missing_; }

 private:
  const bool was_loaded_;
  void* const library_;
  const char* missing_ = nullptr;
};

Result<Driver> load_driver() {
  Loader loader;
  if (!loader.is_open()) {
    const char* const why = ::dlerror();
    return fail(ErrorCode::unsupported,
                std::string("the MongoDB driver cannot be loaded: install ") + kLibrary + " (" +
                    (why == nullptr ? "" : why) + ")");
  }
  Driver driver{};
#define HOLDFAST_LOAD(name) loader.get("mongoc_" #name, driver.name)
  HOLDFAST_LOAD(init);
  HOLDFAST_LOAD(client_command_with_opts);
  HOLDFAST_LOAD(client_destroy);
  HOLDFAST_LOAD(client_new_from_uri_with_error);
  HOLDFAST_LOAD(client_select_server);
  HOLDFAST_LOAD(client_set_error_api);
  HOLDFAST_LOAD(client_set_stream_initiator);
  HOLDFAST_LOAD(client_write_command_with_opts);
  HOLDFAST_LOAD(log_set_handler);
  HOLDFAST_LOAD(server_description_destroy);
  HOLDFAST_LOAD(server_description_hello_response);
  HOLDFAST_LOAD(stream_destroy);
  HOLDFAST_LOAD(stream_tls_new_with_hostname);
  HOLDFAST_LOAD(uri_destroy);
  HOLDFAST_LOAD(uri_get_option_as_bool);
  HOLDFAST_LOAD(uri_get_option_as_utf8);
  HOLDFAST_LOAD(uri_get_tls);
  HOLDFAST_LOAD(uri_get_write_concern);
  HOLDFAST_LOAD(uri_new_with_error);
  HOLDFAST_LOAD(uri_set_option_as_bool);
  HOLDFAST_LOAD(uri_set_option_as_int32);
  HOLDFAST_LOAD(write_concern_is_default);
#undef HOLDFAST_LOAD
  if (loader.missing() != nullptr) {
    return fail(ErrorCode::unsupported, std::string("the MongoDB driver is too old: ") + kLibrary +
                                            " has no " + loader.missing());
  }
  driver.init();
  if (!loader.was_loaded()) {
    // It would write to the standard error stream. What goes wrong comes to us as an error.
    driver.log_set_handler(nullptr, nullptr);
  }
  return driver;
}

}  // namespace

Result<const Driver*> Driver::load() {
  static const Result<Driver> kDriver = load_driver();
  if (!kDriver) {
    return std::unexpected(kDriver.error());
  }
  return &*kDriver;
}

}  // namespace holdfast::engines::mongodb::internal
