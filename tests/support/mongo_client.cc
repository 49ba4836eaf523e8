#include <tests/support/mongo_client.h>

#include <array>
#include <cstdio>
#include <stdexcept>

#include <mongoc/mongoc.h>

namespace holdfast::tests {

namespace {

struct InitOnce {
  InitOnce() {
    mongoc_init();
    mongoc_log_set_handler(nullptr, nullptr);  // it would write to the standard error stream
  }
};

std::string to_json(const bson_t* document) {
  char* const text = bson_as_relaxed_extended_json(document, nullptr);
  std::string json(text);
  bson_free(text);
  return json;
}

}  // namespace

void MongoClient::Free::operator()(_mongoc_client_t* client) const noexcept {
  mongoc_client_destroy(client);
}

MongoClient::MongoClient(const std::string& url) {
  static const InitOnce kInit;
  client_.reset(mongoc_client_new(url.c_str()));
  if (client_ == nullptr) {
    throw std::runtime_error("not a URL for a plain client: " + url);
  }
  mongoc_client_set_error_api(client_.get(), MONGOC_ERROR_API_VERSION_2);
}

std::string MongoClient::run(std::string_view database, std::string_view command) {
  bson_error_t error;
  bson_t parsed;
  if (!bson_init_from_json(&parsed, command.data(), static_cast<ssize_t>(command.size()), &error)) {
    throw std::runtime_error(std::string("not JSON: ") + error.message);
  }
  bson_t reply;
  const bool good = mongoc_client_command_with_opts(client_.get(), std::string(database).c_str(),
                                                    &parsed, nullptr, nullptr, &reply, &error);
  bson_destroy(&parsed);
  std::string json = to_json(&reply);
  bson_destroy(&reply);
  if (!good) {
    throw std::runtime_error(std::string("a plain client is refused: ") + error.message);
  }
  return json;
}

std::string MongoClient::document(std::string_view database, std::string_view collection,
                                  std::string_view id) {
  const std::unique_ptr<mongoc_collection_t, decltype(&mongoc_collection_destroy)> place(
      mongoc_client_get_collection(client_.get(), std::string(database).c_str(),
                                   std::string(collection).c_str()),
      &mongoc_collection_destroy);
  bson_t filter = BSON_INITIALIZER;
  bson_append_utf8(&filter, "_id", -1, id.data(), static_cast<int>(id.size()));
  const std::unique_ptr<mongoc_cursor_t, decltype(&mongoc_cursor_destroy)> cursor(
      mongoc_collection_find_with_opts(place.get(), &filter, nullptr, nullptr),
      &mongoc_cursor_destroy);
  bson_destroy(&filter);
  const bson_t* found = nullptr;
  if (!mongoc_cursor_next(cursor.get(), &found)) {
    return "";
  }
  return to_json(found);
}

std::string json_text(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
      json += escape.data();
    } else {
      json += c;
    }
  }
  return json + "\"";
}

}  // namespace holdfast::tests
