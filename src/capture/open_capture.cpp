#include "src/capture/open_capture.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "src/capture/capture_format.h"
#include "src/capture/hdf5_file_check.h"
#include "src/capture/raw_size.h"
#include "src/capture/read_only_file.h"
#include "src/support/printable_text.h"

namespace cornerturn {
namespace {

const CaptureFormat* find_format(std::string_view name) {
  const auto formats = capture_registry();
  const auto found =
      std::find_if(formats.begin(), formats.end(), [&](const CaptureFormat& format) { return format.name == name; });
  return found == formats.end() ? nullptr : &*found;
}

std::string format_names() {
  std::string names;
  for (const CaptureFormat& format : capture_registry())
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

Expected<std::optional<Sidecar>> open_sidecar(const std::string& capture_path, const CaptureOptions& options) {
  std::string path = options.layout_path;
  if (path.empty()) {
    path = sidecar_path(capture_path);
    if (::access(path.c_str(), F_OK) != 0) return std::optional<Sidecar>{};
  }
  auto reader = TomlReader::open(path);
  if (!reader) return unexpected(reader.error());
  std::string format = reader->text("format", "array");
  if (auto done = reader->check(); !done) return unexpected(done.error());
  if (find_format(format) == nullptr)
    return usage_error(reader->where("format"), fmt::format("'{}' is no format", format),
                       "use one of: " + format_names());
  return std::optional<Sidecar>{Sidecar{path, std::move(format), std::move(*reader)}};
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Nothing described the file: says what was seen and what to write.
Error not_described(const CaptureRequest& request, std::uint64_t size_bytes) {
  Error error{ErrorKind::input, request.path, "", ""};
  error.remedy =
      fmt::format("describe it in {} or with --layout FILE (docs/capture-format.md)", sidecar_path(request.path));
  if (request.is_hdf5)
    error.what = "is an HDF5 file of no known format, and has no sidecar";
  else if (request.is_npy)
    error.what = "is a plain .npy array without a sidecar, so its axes and the radar are not known";
  else
    error.what = fmt::format("is of no known format and has no sidecar ({})", describe_size(size_bytes));
  return error;
}

}  // namespace

std::string sidecar_path(const std::string& capture_path) { return capture_path + ".cornerturn.toml"; }

std::vector<CaptureFormatInfo> capture_formats() {
  std::vector<CaptureFormatInfo> rows;
  for (const CaptureFormat& format : capture_registry())
    rows.push_back({std::string(format.name), std::string(format.what), ""});
  return rows;
}

namespace {

Expected<std::unique_ptr<CaptureSource>> open_unguarded(const std::string& path, const CaptureOptions& options) {
  const auto file = ReadOnlyFile::open(path);
  if (!file) return unexpected(file.error());
  if (file->size_bytes() == 0)
    return input_error(path, "is empty (0 bytes)", "the copy or the recording failed: do it again");
  CaptureRequest request{path, options, nullptr, looks_like_hdf5(path), false};
  std::array<char, 6> start{};
  if (file->size_bytes() >= start.size() && file->read_exact(0, std::as_writable_bytes(std::span(start))))
    request.is_npy = std::memcmp(start.data(), "\x93NUMPY", start.size()) == 0;

  auto sidecar = open_sidecar(path, options);
  if (!sidecar) return unexpected(sidecar.error());
  if (*sidecar) {
    request.sidecar = &**sidecar;
    return find_format(request.sidecar->format)->open(request);
  }
  // Says what is wrong with a damaged HDF5 file, which no format would recognise.
  if (request.is_hdf5 || ends_with(path, ".h5") || ends_with(path, ".hdf5"))
    if (const auto opened = open_hdf5_checked(path); !opened) return unexpected(opened.error());
  for (const CaptureFormat& format : capture_registry())
    if (format.recognise(request)) return format.open(request);
  return unexpected(not_described(request, file->size_bytes()));
}

}  // namespace

Expected<std::unique_ptr<CaptureSource>> open_capture(const std::string& path, const CaptureOptions& options) {
  auto source = open_unguarded(path, options);
  if (source) return source;
  // Names and texts out of the file may stand in the message.
  Error error = source.error();
  error.what = printable_text(error.what);
  error.remedy = printable_text(error.remedy);
  return unexpected(std::move(error));
}

}  // namespace cornerturn
