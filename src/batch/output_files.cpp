#include "src/batch/output_files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "src/result/result_sinks.h"

namespace cornerturn {
namespace {

namespace fs = std::filesystem;

bool names_a_file(const std::string& output) {
  const std::string extension = fs::path(output).extension().string();
  return (extension == ".h5" || extension == ".hdf5" || extension == ".nc") && !fs::is_directory(output);
}

// "walk.h5" -> "walk"; "sim://scenes/car.toml?fast" -> "car"; "sim://" -> "simulation".
std::string stem_of(std::string capture) {
  constexpr std::string_view kScheme = "://";
  if (const auto scheme = capture.find(kScheme); scheme != std::string::npos) {
    capture = capture.substr(scheme + kScheme.size());
    capture = capture.substr(0, capture.find('?'));
  }
  const std::string stem = fs::path(capture).stem().string();
  return stem.empty() ? "simulation" : stem;
}

}  // namespace

Expected<std::vector<OutputPlace>> place_outputs(const std::vector<std::string>& captures, const std::string& output) {
  if (names_a_file(output)) {
    if (captures.size() != 1)
      return usage_error(output, fmt::format("is one file, but there are {} captures", captures.size()),
                         "give a directory with -o");
    const fs::path file(output);
    const std::string directory = file.has_parent_path() ? file.parent_path().string() : ".";
    return std::vector{OutputPlace{directory, file.stem().string(), output}};
  }
  std::vector<OutputPlace> places;
  std::map<std::string, std::string> owners;
  for (const std::string& capture : captures) {
    const std::string stem = stem_of(capture);
    const auto [owner, is_new] = owners.emplace(stem, capture);
    if (!is_new)
      return usage_error(capture, fmt::format("and {} would write the same files '{}.result.*'", owner->second, stem),
                         "process them into different directories");
    places.push_back({output, stem + ".result", ""});
  }
  return places;
}

Expected<void> check_free(const std::vector<std::string>& files, bool overwrite) {
  if (overwrite) return {};
  for (const std::string& file : files)
    if (std::error_code ignored; fs::exists(file, ignored))
      return usage_error(file, "exists already", "write over it with --force, or elsewhere with -o");
  return {};
}

Expected<void> check_not_input(const std::vector<std::string>& files, const std::vector<std::string>& inputs) {
  for (const std::string& file : files)
    for (const std::string& input : inputs)
      if (std::error_code ignored; fs::equivalent(file, input, ignored))
        return usage_error(file, fmt::format("is the input {} itself", input), "write elsewhere with -o");
  return {};
}

Expected<void> prepare_directory(const std::string& directory) {
  std::error_code fault;
  fs::create_directories(directory, fault);
  if (fault || !fs::is_directory(directory))
    return runtime_error(
        directory,
        fmt::format("cannot be made a directory ({})", fault ? fault.message() : std::string(std::strerror(ENOTDIR))),
        "give another place with -o");
  // Permissions alone do not tell (read-only file systems, quotas): a file is made and removed.
  std::string probe = (fs::path(directory) / ".cornerturn-XXXXXX").string();
  const int descriptor = ::mkstemp(probe.data());
  if (descriptor < 0)
    return runtime_error(directory, fmt::format("cannot be written to ({})", std::strerror(errno)),
                         "give another place with -o");
  ::close(descriptor);
  ::unlink(probe.c_str());
  return {};
}

Expected<OutputSinks> open_outputs(const OutputPlace& place, const std::vector<std::string>& kinds, bool overwrite,
                                   const std::vector<std::string>& inputs) {
  const Expected<ResultWriterOptions> options = place_results(place.directory, place.stem, kinds, place.hdf5_path);
  if (!options) return unexpected(options.error());
  OutputSinks outputs;
  outputs.files = result_files(*options);
  if (outputs.files.empty()) return outputs;
  if (const Expected<void> apart = check_not_input(outputs.files, inputs); !apart) return unexpected(apart.error());
  if (const Expected<void> is_free = check_free(outputs.files, overwrite); !is_free) return unexpected(is_free.error());
  if (const Expected<void> ready = prepare_directory(place.directory); !ready) return unexpected(ready.error());
  Expected<std::vector<std::unique_ptr<ResultSink>>> sinks = make_result_sinks(*options);
  if (!sinks) return unexpected(sinks.error());
  for (std::unique_ptr<ResultSink>& sink : *sinks)
    outputs.sinks.push_back({std::move(sink), SinkPolicy::lossless, kWriterQueue});
  return outputs;
}

}  // namespace cornerturn
