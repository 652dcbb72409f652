#include "src/config/toml_reader.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "src/config/edit_distance.h"

namespace cornerturn {

struct TomlReader::Document {
  toml::table root;
  std::string source_name;
  std::optional<Error> first_error;
  bool key_is_missing = false;  // the first error
  struct KnownKeys {
    std::string path;
    std::set<std::string, std::less<>> names;  // as they were asked for
  };
  std::map<const void*, KnownKeys> known_keys;  // of each table that was entered

  void enter(const void* table, const std::string& table_path) { known_keys[table].path = table_path; }
};

namespace {

const toml::table* as_table(const void* table) { return static_cast<const toml::table*>(table); }
const toml::node* as_node(const void* node) { return static_cast<const toml::node*>(node); }

std::string joined(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

std::string in_words(const NumberRange& range) {
  const bool low = std::isfinite(range.min);
  const bool high = std::isfinite(range.max);
  const char* bound = range.exclusive_min ? "above" : "at least";
  if (low && high)
    return range.exclusive_min ? fmt::format("give a number above {} and at most {}", range.min, range.max)
                               : fmt::format("give a number from {} to {}", range.min, range.max);
  if (low) return fmt::format("give a number {} {}", bound, range.min);
  if (high) return fmt::format("give a number of at most {}", range.max);
  return "give a finite number";
}

bool contains(const NumberRange& range, double value) {
  return std::isfinite(value) && value <= range.max && (range.exclusive_min ? value > range.min : value >= range.min);
}

std::string_view type_in_words(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

}  // namespace

TomlReader::TomlReader(std::shared_ptr<Document> document, const void* table, std::string path)
    : document_(std::move(document)), table_(table), path_(std::move(path)) {}

Expected<TomlReader> TomlReader::open(const std::string& path) {
  // No description of a capture, scene or chain is larger; an endless file (a device) ends here.
  constexpr std::size_t kLargestFile = std::size_t{1} << 20;
  std::ifstream file(path, std::ios::binary);
  std::string text(kLargestFile + 1, '\0');
  const bool is_open = file.is_open();
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!is_open || file.bad()) return input_error(path, "cannot be read", "check path and permissions");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestFile) return input_error(path, "is larger than 1 MiB", "give a TOML file");
  return parse(text, path);
}

Expected<TomlReader> TomlReader::parse(std::string_view text, const std::string& source_name) {
  auto document = std::make_shared<Document>();
  document->source_name = source_name;
  try {
    document->root = toml::parse(text, source_name);
  } catch (const toml::parse_error& error) {
    const auto& at = error.source().begin;
    return usage_error(fmt::format("{}:{}:{}", source_name, at.line, at.column),
                       fmt::format("not valid TOML: {}", error.description()));
  }
  const void* root = &document->root;
  return TomlReader(std::move(document), root, "");
}

const void* TomlReader::find(std::string_view key) {
  if (table_ == nullptr) return nullptr;
  document_->known_keys[table_].names.insert(std::string(key));
  return as_table(table_)->get(key);
}

bool TomlReader::has(std::string_view key) const { return table_ != nullptr && as_table(table_)->contains(key); }

TomlReader TomlReader::table(std::string_view key) {
  const toml::node* node = as_node(find(key));
  if (node != nullptr && !node->is_table())
    fail(key, fmt::format("is {}", type_in_words(*node)), fmt::format("write a table [{}]", joined(path_, key)));
  const toml::table* sub_table = node != nullptr ? node->as_table() : nullptr;
  if (sub_table != nullptr) document_->enter(sub_table, joined(path_, key));
  return TomlReader(document_, sub_table, joined(path_, key));
}

std::vector<TomlReader> TomlReader::tables(std::string_view key) {
  const toml::node* node = as_node(find(key));
  std::vector<TomlReader> entries;
  if (node == nullptr) return entries;
  const toml::array* array = node->as_array();
  if (array == nullptr || (!array->empty() && !array->is_array_of_tables())) {
    fail(key, fmt::format("is {}", type_in_words(*node)), fmt::format("write tables [[{}]]", joined(path_, key)));
    return entries;
  }
  for (const toml::node& entry : *array) {
    document_->enter(entry.as_table(), joined(path_, key));
    entries.push_back(TomlReader(document_, entry.as_table(), joined(path_, key)));
  }
  return entries;
}

double TomlReader::number(std::string_view key, double fallback, NumberRange range) {
  const toml::node* node = as_node(find(key));
  if (node == nullptr) return fallback;
  if (!node->is_number()) {
    fail(key, fmt::format("is {}", type_in_words(*node)), in_words(range));
    return fallback;
  }
  // toml++ gives no double for an integer that it cannot hold exactly; the nearest one will do.
  const double value = node->is_integer() ? static_cast<double>(*node->value<std::int64_t>()) : *node->value<double>();
  if (contains(range, value)) return value;
  fail(key, fmt::format("{} is out of range", value), in_words(range));
  return fallback;
}

double TomlReader::required_number(std::string_view key, NumberRange range) {
  if (find(key) == nullptr) fail(key, "is missing", in_words(range));
  return number(key, 1.0, range);
}

std::int64_t TomlReader::integer(std::string_view key, std::int64_t fallback, NumberRange range) {
  const toml::node* node = as_node(find(key));
  if (node == nullptr) return fallback;
  if (!node->is_integer()) {
    fail(key, fmt::format("is {}", type_in_words(*node)), "give an integer");
    return fallback;
  }
  const std::int64_t value = *node->value<std::int64_t>();
  if (contains(range, static_cast<double>(value))) return value;
  fail(key, fmt::format("{} is out of range", value), in_words(range));
  return fallback;
}

std::int64_t TomlReader::required_integer(std::string_view key, NumberRange range) {
  if (find(key) == nullptr) fail(key, "is missing", in_words(range));
  return integer(key, 1, range);
}

std::size_t TomlReader::size(std::string_view key, std::size_t fallback, NumberRange range) {
  // 2^48 elements is beyond any memory and far from overflow in products of sizes.
  range.min = std::max(range.min, 0.0);
  range.max = std::min(range.max, 281474976710656.0);
  return static_cast<std::size_t>(integer(key, static_cast<std::int64_t>(fallback), range));
}

bool TomlReader::flag(std::string_view key, bool fallback) {
  const toml::node* node = as_node(find(key));
  if (node == nullptr) return fallback;
  if (node->is_boolean()) return *node->value<bool>();
  fail(key, fmt::format("is {}", type_in_words(*node)), "give true or false");
  return fallback;
}

std::string TomlReader::text(std::string_view key, std::string_view fallback) {
  const toml::node* node = as_node(find(key));
  if (node == nullptr) return std::string(fallback);
  if (node->is_string()) return *node->value<std::string>();
  fail(key, fmt::format("is {}", type_in_words(*node)), "give a text in quotes");
  return std::string(fallback);
}

std::string TomlReader::required_text(std::string_view key) {
  if (find(key) == nullptr) fail(key, "is missing", "give a text in quotes");
  return text(key, "");
}

std::vector<double> TomlReader::numbers(std::string_view key) {
  std::vector<double> values;
  const toml::node* node = as_node(find(key));
  if (node == nullptr) return values;
  const toml::array* array = node->as_array();
  for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
    const std::optional<double> value = array->get(i)->is_number() ? array->get(i)->value<double>() : std::nullopt;
    if (!value || !std::isfinite(*value)) {
      array = nullptr;
      break;
    }
    values.push_back(*value);
  }
  if (array == nullptr) fail(key, "is not a list of finite numbers", "write [1.0, 2.0]");
  return values;
}

std::vector<std::string> TomlReader::texts(std::string_view key) {
  std::vector<std::string> values;
  const toml::node* node = as_node(find(key));
  if (node == nullptr) return values;
  const toml::array* array = node->as_array();
  for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
    if (!array->get(i)->is_string()) {
      array = nullptr;
      break;
    }
    values.push_back(*array->get(i)->value<std::string>());
  }
  if (array == nullptr) fail(key, "is not a list of texts", "write [\"a\", \"b\"]");
  return values;
}

std::string TomlReader::where(std::string_view key) const {
  const toml::table* table = as_table(table_);
  const toml::node* node = table != nullptr ? table->get(key) : nullptr;
  const auto line = node != nullptr    ? node->source().begin.line
                    : table != nullptr ? table->source().begin.line
                                       : document_->root.source().begin.line;
  return fmt::format("{}:{}:{}", document_->source_name, std::max(line, decltype(line){1}), joined(path_, key));
}

void TomlReader::fail(std::string_view key, std::string what, std::string remedy) {
  if (document_->first_error) return;
  document_->key_is_missing = what == "is missing";
  document_->first_error = Error{ErrorKind::usage, where(key), std::move(what), std::move(remedy)};
}

Expected<void> TomlReader::check() const {
  if (document_->first_error) return unexpected(*document_->first_error);
  return {};
}

Expected<void> TomlReader::finish() {
  // A mistyped key is missing and unknown; only the second says what to mend.
  if (document_->first_error && !document_->key_is_missing) return unexpected(*document_->first_error);
  // Keys that nobody asked for are typing mistakes. Tables that were not entered are found in their parent.
  std::optional<Error> first;
  auto first_line = std::numeric_limits<toml::source_index>::max();
  for (const auto& [table, known] : document_->known_keys) {
    for (const auto& [key, node] : *as_table(table)) {
      const auto line = node.source().begin.line;
      if (known.names.count(key.str()) != 0 || line >= first_line) continue;
      first_line = line;
      const std::string nearest = nearest_word(key.str(), known.names);
      first =
          Error{ErrorKind::usage, fmt::format("{}:{}:{}", document_->source_name, line, joined(known.path, key.str())),
                "unknown key",
                nearest.empty() ? "remove it or see the documentation" : fmt::format("did you mean '{}'?", nearest)};
    }
  }
  if (first) return unexpected(*first);
  if (document_->first_error) return unexpected(*document_->first_error);
  return {};
}

}  // namespace cornerturn
