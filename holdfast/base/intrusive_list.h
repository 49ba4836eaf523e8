#pragma once

namespace holdfast::base {

// The position of an element in a list.
template <class T>
struct ListHook {
  T* previous = nullptr;
  T* next = nullptr;
};

// A doubly linked list through a hook inside its elements: it owns nothing and never allocates. An
// element is in at most one list per hook.
template <class T, ListHook<T> T::* kHook>
class IntrusiveList {
 public:
  IntrusiveList() = default;
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;

  [[nodiscard]] bool empty() const { return front_ == nullptr; }
  // Returns null if the list is empty.
  [[nodiscard]] T* front() const { return front_; }
  [[nodiscard]] static T* after(const T& element) { return (element.*kHook).next; }

  void push_back(T& element) {
    element.*kHook = {.previous = back_, .next = nullptr};
    (back_ != nullptr ? (back_->*kHook).next : front_) = &element;
    back_ = &element;
  }

  void erase(T& element) {
    const ListHook<T> hook = element.*kHook;
    (hook.previous != nullptr ? (hook.previous->*kHook).next : front_) = hook.next;
    (hook.next != nullptr ? (hook.next->*kHook).previous : back_) = hook.previous;
    element.*kHook = {};
  }

  // Removes the first element; the list must not be empty.
  T& pop_front() {
    T& element = *front_;
    erase(element);
    return element;
  }

 private:
  T* front_ = nullptr;
  T* back_ = nullptr;
};

}  // namespace holdfast::base
