#include <holdfast/objects/object_host.h>

#include <string>
#include <utility>

#include <holdfast/base/printable.h>
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
    core_->state().options.logger.error("a host ends: " + base::to_string(stopped.error()));
  }
}

Result<nlohmann::json> ObjectHost::call(std::string_view type_name, std::string_view id,
                                        std::string_view method_name,
                                        const nlohmann::json& request) {
  const auto type = core_->state().types.find(type_name);
  if (!type) {
    return std::unexpected(type.error());
  }
  const auto method = (*type)->method(method_name);
  if (!method) {
    return std::unexpected(method.error());
  }
  internal::CallScope scope(*core_);
  if (auto begun = scope.begin(**type, id); !begun) {
    return std::unexpected(std::move(begun).error());
  }
  auto reply =
      scope.run((*method)->effect, [&] { return (*method)->call(scope.object(), request); });
  if (!reply) {
    const std::string what = (*type)->name + "." + std::string(method_name);
    return std::unexpected(internal::in_context(what, std::move(reply).error()));
  }
  return reply;
}

Result<CreateOutcome> ObjectHost::create(std::string_view type_name, std::string_view id) {
  const auto type = core_->state().types.find(type_name);
  if (!type) return std::unexpected(type.error());
  return core_->create(**type, id);
}

Result<EraseOutcome> ObjectHost::erase(std::string_view type_name, std::string_view id) {
  const auto type = core_->state().types.find(type_name);
  if (!type) return std::unexpected(type.error());
  return core_->erase(**type, id);
}

Result<SaveOutcome> ObjectHost::save(std::string_view type_name, std::string_view id) {
  const auto type = core_->state().types.find(type_name);
  if (!type) return std::unexpected(type.error());
  return core_->save(**type, id);
}

Result<SaveOutcome> ObjectHost::deactivate(std::string_view type_name, std::string_view id) {
  const auto type = core_->state().types.find(type_name);
  if (!type) return std::unexpected(type.error());
  return core_->deactivate(**type, id);
}

Result<std::size_t> ObjectHost::save_all() { return core_->save_all(); }

Result<void> ObjectHost::stop(base::Duration wait) {
  return core_->stop(base::Deadline::after(base::steady_clock(), wait));
}

std::size_t ObjectHost::count() const {
  std::size_t total = 0;
  for (const internal::ObjectType* const type : core_->state().types.in_use()) {
    total += type->table.size();
  }
  return total;
}

Result<std::size_t> ObjectHost::count(std::string_view type_name) const {
  const auto type = core_->state().types.find(type_name);
  if (!type) return std::unexpected(type.error());
  return (*type)->table.size();
}

Result<store::IdPage> ObjectHost::ids(std::string_view type_name, std::string_view prefix,
                                      std::size_t limit, std::string_view after) const {
  const auto type = core_->state().types.find(type_name);
  if (!type) return std::unexpected(type.error());
  if (limit < 1 || limit > 1000) {
    return base::fail(ErrorCode::invalid_argument, "a page has 1 to 1,000 ids");
  }
  // One extra id tells whether there is a next page.
  store::IdPage page{.ids = (*type)->table.ids(prefix, limit + 1, after), .next = {}};
  if (page.ids.size() > limit) {
    page.ids.pop_back();
    page.next = page.ids.back();
  }
  return page;
}

Result<store::IdPage> ObjectHost::stored_ids(std::string_view type_name, std::string_view prefix,
                                             std::size_t limit, std::string_view after) const {
  const auto type = core_->state().types.find(type_name);
  if (!type) return std::unexpected(type.error());
  const internal::HostState& state = core_->state();
  return state.repository->list((*type)->name, prefix, limit, after, state.store_deadline());
}

HostStats ObjectHost::stats() const { return core_->stats(); }

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
