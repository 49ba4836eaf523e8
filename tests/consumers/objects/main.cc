#include <cstdlib>
#include <iostream>
#include <memory>

#include <holdfast/engines/memory/memory_repository.h>
#include <holdfast/objects/object_host.h>

namespace {

class Counter : public holdfast::objects::Object {
 public:
  nlohmann::json to_data() const override { return value_; }
  void from_data(const nlohmann::json& data) override { data.get_to(value_); }
  int add(int amount) { return value_ += amount; }

 private:
  int value_ = 0;
};

}  // namespace

int main() {
  holdfast::objects::ObjectHost host(
      std::make_shared<holdfast::engines::memory::MemoryRepository>());
  host.register_type<Counter>("counter").method<&Counter::add>("add");

  if (host.call<&Counter::add>("a", 2) != 2 || host.call("counter", "a", "add", 3) != 5) {
    std::cerr << "the object does not count\n";
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
