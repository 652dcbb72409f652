#pragma once

#include <string>
#include <vector>

namespace cornerturn {

/// A table for a terminal: columns as wide as their widest cell, figures to the right, words to the left.
class TextTable {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit TextTable(std::vector<Column> columns);

  /// Requires one cell per column.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// Each line indented and ended; titles first, unless all are empty.
  std::string text(std::size_t indent = 2) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace cornerturn
