#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "src/result/result_sink.h"

namespace cornerturn {

/// Writes one row per detection: cpi, start_time_s, then the columns of docs/result-format.md with their units in the
/// names. RFC 4180 (comma, CRLF); numbers in the shortest form that reads back to the same value; NaN is an empty
/// field. Rows are handed to the system after each CPI, so that a kill leaves whole rows up to the last CPI or two.
/// Errors: runtime (cannot be created, disk full).
class CsvSink final : public ResultSink {
 public:
  explicit CsvSink(std::string path) : path_(std::move(path)) {}

  std::string name() const override { return "detections"; }
  Expected<void> begin(const RunDescription& run) override;
  Expected<void> accept(const CpiResult& result) override;
  Expected<void> finish(bool complete) override;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  Expected<void> write_text();

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<std::string> columns_;  // names of the products, in order
  std::string text_;
};

/// Appends a field of a CSV row: quoted where RFC 4180 asks for it.
void append_csv_field(std::string& row, std::string_view field);
/// Appends a number in the shortest form that reads back the same; nothing for NaN.
void append_csv_number(std::string& row, double value);

}  // namespace cornerturn
