#include <holdfast/objects/object_host.h>

#include <string>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/objects/internal/name_list.h>

namespace holdfast::objects {

namespace {

using base::ErrorCode;
using base::Result;

void check(bool holds, std::string message) {
  if (!holds) {
    base::throw_error({ErrorCode::invalid_argument, std::move(message)});
  }
}

HostOptions checked(HostOptions options) {
  const auto positive = [](const std::optional<base::Duration>& duration) {
    return !duration || *duration > base::Duration::zero();
  };
  check(options.save_batch >= 1 && options.save_batch <= store::ObjectRepository::kMaxBatch,
        "save_batch is to be 1 to 1,000");
  check(positive(options.save_every), "save_every is to be more than zero, or nothing");
  check(positive(options.idle_after), "idle_after is to be more than zero, or nothing");
  check(positive(options.key_wait) && positive(options.store_wait),
        "key_wait and store_wait are to be more than zero");
  check(options.clock != nullptr, "there is no clock");
  return options;
}

}  // namespace

std::string_view Object::id() const { return activation_->id; }
ObjectHost& Object::host() const { return activation_->host.face; }
void Object::mark_changed() { internal::mark_dirty(*activation_); }

ObjectHost::ObjectHost(std::shared_ptr<store::ObjectRepository> repository, HostOptions options)
    : core_((check(repository != nullptr, "there is no repository"),
             std::make_unique<internal::HostCore>(*this, std::move(repository),
                                                  checked(std::move(options))))) {}

ObjectHost::~ObjectHost() {
  if (process_.is_inherited()) {
    static_cast<void>(core_.release());
    return;
  }
  if (const auto stopped = stop(); !stopped) {
    core_->options.logger.error("a host ends: " + base::to_string(stopped.error()));
  }
}

Result<nlohmann::json> ObjectHost::call(std::string_view type_name, std::string_view id,
                                        std::string_view method_name, const nlohmann::json& request,
                                        const Limits& limits) {
  HOLDFAST_TRY_LET(const auto type, core_->types.find(type_name));
  HOLDFAST_TRY_LET(const auto method, type->method(method_name));
  internal::CallScope scope(*core_, *type, limits);
  HOLDFAST_TRY(scope.begin(id));
  auto reply = scope.run(method->effect, [&] { return method->call(scope.object(), request); });
  if (!reply) {
    const std::string what = type->name + "." + std::string(method_name);
    return std::unexpected(internal::in_context(what, std::move(reply).error()));
  }
  return reply;
}

Result<void> ObjectHost::stop(base::Duration wait) {
  return core_->stop(base::Deadline::after(base::steady_clock(), wait));
}

std::size_t ObjectHost::count() const {
  std::size_t total = 0;
  for (const internal::ObjectType* const type : core_->types.in_use()) {
    total += type->table.size();
  }
  return total;
}

Result<std::size_t> ObjectHost::count(std::string_view type_name) const {
  HOLDFAST_TRY_LET(const auto type, core_->types.find(type_name));
  return type->table.size();
}

Result<store::IdPage> ObjectHost::ids(std::string_view type_name, std::string_view prefix,
                                      std::size_t limit, std::string_view after) const {
  HOLDFAST_TRY_LET(const auto type, core_->types.find(type_name));
  if (limit < 1 || limit > 1000) {
    return base::fail(ErrorCode::invalid_argument, "a page has 1 to 1,000 ids");
  }
  return type->table.ids(prefix, limit, after, base::steady_clock().now());
}

Result<store::IdPage> ObjectHost::stored_ids(std::string_view type_name, std::string_view prefix,
                                             std::size_t limit, std::string_view after) const {
  HOLDFAST_TRY_LET(const auto type, core_->types.find(type_name));
  return core_->repository->list(
      type->name, prefix, limit, after,
      base::Deadline::after(base::steady_clock(), core_->options.store_wait));
}

base::Error ObjectHost::bad_reply(std::string_view type, std::string_view method,
                                  const nlohmann::json& reply, std::string_view why) {
  std::string what = std::string("it is of type ") + reply.type_name();
  if (reply.is_object()) {
    what += " with " + internal::name_list(reply.get<nlohmann::json::object_t>());
  }
  return {ErrorCode::invalid_argument,
          "the reply of " + base::printable(type) + "." + base::printable(method) +
              " is not what was asked for; " + what + " (" + std::string(why) + ")"};
}

}  // namespace holdfast::objects
