#include "src/result/csv_sink.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "dsp/stage/detection.h"

namespace cornerturn {
namespace {

constexpr std::string_view kPrefix = "detection_";
constexpr const char* kEndOfRow = "\r\n";

double value_at(const Product& product, std::size_t row) {
  switch (product.type) {
    case ElementType::float32:
      return static_cast<double>(product.values<float>()[row]);
    case ElementType::float64:
      return product.values<double>()[row];
    case ElementType::int32:
      return product.values<std::int32_t>()[row];
    case ElementType::uint8:
      return product.values<std::uint8_t>()[row];
    case ElementType::complex64:
      break;  // no column is complex
  }
  return std::nan("");
}

tl::unexpected<Error> write_error(const std::string& path, int error) {
  return runtime_error(path, std::string("cannot be written: ") + std::strerror(error),
                       error == ENOSPC ? "free some space or write to another disk; the rows before are kept"
                                       : "choose a directory that you may write to");
}

}  // namespace

void append_csv_field(std::string& row, std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    row += field;
    return;
  }
  row += '"';
  for (const char letter : field) {
    if (letter == '"') row += '"';
    row += letter;
  }
  row += '"';
}

void append_csv_number(std::string& row, double value) {
  if (std::isnan(value)) return;
  std::array<char, 32> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  row.append(digits.data(), result.ptr);
}

Expected<void> CsvSink::write_text() {
  const bool written = std::fwrite(text_.data(), 1, text_.size(), file_.get()) == text_.size();
  text_.clear();
  if (written && std::fflush(file_.get()) == 0) return {};
  return write_error(path_, errno);
}

Expected<void> CsvSink::begin(const RunDescription& /*run*/) {
  if (file_) return {};  // a later configuration goes on in the same table
  std::error_code ignored;
  const std::filesystem::path parent = std::filesystem::path(path_).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, ignored);
  file_.reset(std::fopen(path_.c_str(), "wb"));
  if (!file_) return write_error(path_, errno);

  std::vector<std::byte> storage(detection_column_bytes(0));
  text_ = "cpi,start_time_s";
  columns_.clear();
  for (const Product& column : make_detection_columns(storage, 0)) {
    columns_.push_back(column.name);
    text_ += ',';
    append_csv_field(text_, std::string_view(column.name).substr(kPrefix.size()));
  }
  text_ += kEndOfRow;
  return write_text();
}

Expected<void> CsvSink::accept(const CpiResult& result) {
  std::vector<const Product*> products;
  std::size_t rows = 0;
  for (const std::string& name : columns_) {
    products.push_back(result.find(name));
    if (products.back() != nullptr) rows = std::max(rows, products.back()->element_count());
  }
  if (rows == 0) return {};
  for (std::size_t row = 0; row < rows; ++row) {
    text_ += std::to_string(result.header.index);
    text_ += ',';
    append_csv_number(text_, result.header.start_time_s);
    for (const Product* product : products) {
      text_ += ',';
      if (product != nullptr && row < product->element_count()) append_csv_number(text_, value_at(*product, row));
    }
    text_ += kEndOfRow;
  }
  return write_text();
}

Expected<void> CsvSink::finish(bool /*complete*/) {
  if (!file_) return {};
  if (std::fclose(file_.release()) != 0) return write_error(path_, errno);
  return {};
}

}  // namespace cornerturn
