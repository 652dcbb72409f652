#include "src/capture/npy_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "src/capture/complex_names.h"

namespace cornerturn {
namespace {

/// Reads the Python literal of the header: a dictionary of texts, truth values, tuples of integers and a list of
/// fields.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  bool take(char wanted) {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) text_.remove_prefix(1);
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::optional<std::string> quoted() {
    const char mark = take('\'') ? '\'' : (take('"') ? '"' : '\0');
    if (mark == '\0') return std::nullopt;
    const std::size_t end = text_.find(mark);
    if (end == std::string_view::npos) return std::nullopt;
    std::string word(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return word;
  }
  std::optional<bool> truth() {
    take(' ');
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(0, word.size()) != word) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    return std::nullopt;
  }
  /// "(3, 4)", "(3,)" or "()".
  std::optional<std::vector<std::uint64_t>> tuple() {
    if (!take('(')) return std::nullopt;
    std::vector<std::uint64_t> values;
    while (!take(')')) {
      take(' ');
      std::uint64_t value = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
      if (error != std::errc()) return std::nullopt;
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      values.push_back(value);
      if (!take(',')) return take(')') ? std::optional(values) : std::nullopt;
    }
    return values;
  }
  /// "'<i2'" or "[('real', '<i2'), ('imag', '<i2')]": pairs of field name and type.
  std::optional<std::vector<std::array<std::string, 2>>> description() {
    if (!take('[')) {
      const auto type = quoted();
      if (!type) return std::nullopt;
      return std::vector<std::array<std::string, 2>>{{"", *type}};
    }
    std::vector<std::array<std::string, 2>> fields;
    while (!take(']')) {
      if (!take('(')) return std::nullopt;
      const auto name = quoted();
      if (!name || !take(',')) return std::nullopt;
      const auto type = quoted();
      if (!type || !take(')')) return std::nullopt;
      fields.push_back({*name, *type});
      take(',');
    }
    return fields;
  }

 private:
  std::string_view text_;
};

struct Header {
  std::vector<std::array<std::string, 2>> fields;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

std::optional<Header> parse_header(std::string_view text) {
  HeaderParser parser(text);
  Header header;
  if (!parser.take('{')) return std::nullopt;
  int known = 0;
  while (!parser.take('}')) {
    const auto key = parser.quoted();
    if (!key || !parser.take(':')) return std::nullopt;
    if (*key == "descr") {
      const auto fields = parser.description();
      if (!fields) return std::nullopt;
      header.fields = *fields;
    } else if (*key == "fortran_order") {
      const auto order = parser.truth();
      if (!order) return std::nullopt;
      header.fortran_order = *order;
    } else if (*key == "shape") {
      const auto shape = parser.tuple();
      if (!shape) return std::nullopt;
      header.shape = *shape;
    } else {
      return std::nullopt;
    }
    ++known;
    parser.take(',');
  }
  return known == 3 && !header.fields.empty() ? std::optional(header) : std::nullopt;
}

/// "<i2" as element; nothing when we do not read such numbers.
std::optional<ArrayElement> parse_type(std::string_view type) {
  struct Known {
    std::string_view word;
    SampleFormat format;
    bool complex_pair;
  };
  static constexpr std::array<Known, 10> kKnown{{{"i1", SampleFormat::int8, false},
                                                 {"u1", SampleFormat::uint8, false},
                                                 {"i2", SampleFormat::int16, false},
                                                 {"u2", SampleFormat::uint16, false},
                                                 {"i4", SampleFormat::int32, false},
                                                 {"u4", SampleFormat::uint32, false},
                                                 {"f4", SampleFormat::float32, false},
                                                 {"f8", SampleFormat::float64, false},
                                                 {"c8", SampleFormat::float32, true},
                                                 {"c16", SampleFormat::float64, true}}};
  if (type.size() < 3 || std::string_view("<>|=").find(type.front()) == std::string_view::npos) return std::nullopt;
  const auto* known =
      std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& entry) { return entry.word == type.substr(1); });
  if (known == kKnown.end()) return std::nullopt;
  ArrayElement element;
  element.format = known->format;
  element.big_endian = type.front() == '>';
  element.complex_pair = known->complex_pair;
  element.scalars = known->complex_pair ? 2 : 1;
  element.q_scalar = known->complex_pair ? 1 : 0;
  return element;
}

std::optional<ArrayElement> element_of(const std::vector<std::array<std::string, 2>>& fields) {
  const auto first = parse_type(fields[0][1]);
  if (!first || fields.size() == 1) return first;
  if (fields.size() != 2 || fields[0][1] != fields[1][1] || first->complex_pair) return std::nullopt;
  ArrayElement element = *first;
  element.complex_pair = true;
  element.scalars = 2;
  element.i_scalar = is_quadrature_first(fields[0][0], fields[1][0]) ? 1 : 0;
  element.q_scalar = 1 - element.i_scalar;
  return element;
}

}  // namespace

Expected<std::unique_ptr<ArrayFile>> open_npy(const std::string& path) {
  auto file = ReadOnlyFile::open(path);
  if (!file) return unexpected(file.error());
  if (file->size_bytes() == 0) return input_error(path, "is empty (0 bytes)", "copy or record it again");
  std::array<unsigned char, 12> start{};
  if (file->size_bytes() < start.size())
    return input_error(path, fmt::format("is cut inside its .npy header: {} bytes", file->size_bytes()),
                       "copy the file again");
  if (auto done = file->read_exact(0, std::as_writable_bytes(std::span(start))); !done) return unexpected(done.error());
  if (std::memcmp(start.data(), "\x93NUMPY", 6) != 0)
    return input_error(path, "is not a .npy file (its first bytes differ)", "save it with numpy.save");
  const int version = start[6];
  if (version < 1 || version > 3)
    return input_error(path, fmt::format("is .npy version {}; versions 1 to 3 are known", version),
                       "save it again with numpy.save");
  const std::uint64_t prefix = version == 1 ? 10 : 12;
  std::uint64_t length = start[8] + 256ULL * start[9];
  if (version > 1) length += (start[10] + 256ULL * start[11]) << 16;
  constexpr std::uint64_t kLongestHeader = 1U << 20;
  if (length > kLongestHeader || prefix + length > file->size_bytes())
    return input_error(path,
                       fmt::format("is cut inside its .npy header: {} bytes on disk, a header of {} announced",
                                   file->size_bytes(), prefix + length),
                       "copy the file again");
  std::string text(length, '\0');
  if (auto done = file->read_exact(prefix, std::as_writable_bytes(std::span(text))); !done)
    return unexpected(done.error());
  const auto header = parse_header(text);
  if (!header) return input_error(path, "has a .npy header that cannot be read", "save it again with numpy.save");
  const auto element = element_of(header->fields);
  if (!element)
    return input_error(path, fmt::format("holds numbers of type {}, which are not read here", header->fields[0][1]),
                       "save it as int8 to int32, float32, float64 or complex");
  auto array = ContiguousArray::make(std::move(*file), *element, header->shape, header->fortran_order, prefix + length);
  if (!array) return unexpected(array.error());
  return std::unique_ptr<ArrayFile>(std::move(*array));
}

}  // namespace cornerturn
