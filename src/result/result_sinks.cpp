#include "src/result/result_sinks.h"

#include <algorithm>

#include <fmt/format.h>

#include "src/result/csv_sink.h"
#include "src/result/hdf5_result_sink.h"
#include "src/result/picture_sink.h"

namespace cornerturn {

std::vector<std::string> output_words() {
  std::vector<std::string> words{"h5", "csv"};
  for (std::string& kind : picture_kinds()) words.push_back(std::move(kind));
  return words;
}

Expected<ResultWriterOptions> place_results(const std::string& directory, const std::string& stem,
                                            const std::vector<std::string>& words, const std::string& hdf5_path) {
  const std::vector<std::string> known = output_words();
  const std::string base = (directory.empty() || directory == "." ? "" : directory + "/") + stem + ".";
  ResultWriterOptions options;
  for (const std::string& word : words) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      const bool picture = word == "png" || word == "svg" || word == "pdf";
      return usage_error(word, picture ? "cannot be drawn by this build, which is without cairo" : "is no output",
                         fmt::format("choose from {}", fmt::join(known, ", ")));
    }
    if (word == "h5") {
      options.hdf5_path = hdf5_path.empty() ? base + word : hdf5_path;
    } else if (word == "csv") {
      options.csv_path = base + word;
    } else {
      options.picture_paths.push_back(base + word);
    }
  }
  return options;
}

std::vector<std::string> result_files(const ResultWriterOptions& options) {
  std::vector<std::string> files;
  if (!options.hdf5_path.empty()) files.push_back(options.hdf5_path);
  if (!options.csv_path.empty()) files.push_back(options.csv_path);
  files.insert(files.end(), options.picture_paths.begin(), options.picture_paths.end());
  return files;
}

Expected<std::vector<std::unique_ptr<ResultSink>>> make_result_sinks(const ResultWriterOptions& options) {
  std::vector<std::unique_ptr<ResultSink>> sinks;
  if (!options.hdf5_path.empty()) sinks.push_back(std::make_unique<Hdf5ResultSink>(options));
  if (!options.csv_path.empty()) sinks.push_back(std::make_unique<CsvSink>(options.csv_path));
  if (!options.picture_paths.empty()) {
    Expected<std::unique_ptr<ResultSink>> pictures = make_picture_sink(options);
    if (!pictures) return unexpected(pictures.error());
    sinks.push_back(std::move(*pictures));
  }
  return sinks;
}

}  // namespace cornerturn
