#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/capture/open_capture.h"
#include "src/config/toml_reader.h"

namespace cornerturn {

/// A sidecar whose [format] has been read; each format reads the tables that it needs and finishes the reader.
struct Sidecar {
  std::string path;
  std::string format;
  TomlReader reader;
};

/// What is known before a format is chosen.
struct CaptureRequest {
  std::string path;
  CaptureOptions options;
  Sidecar* sidecar = nullptr;  ///< null when there is none
  bool is_hdf5 = false;
  bool is_npy = false;
};

/// One readable format: a row of the registry (capture_registry.cpp), one file each.
struct CaptureFormat {
  std::string_view name;  ///< as sidecars write it
  std::string_view what;
  /// True when the content alone says that this is the format.
  bool (*recognise)(const CaptureRequest& request);
  Expected<std::unique_ptr<CaptureSource>> (*open)(const CaptureRequest& request);
};

std::span<const CaptureFormat> capture_registry();

// One declaration per format; see the file of the same name.
bool recognise_capture_v1(const CaptureRequest& request);
Expected<std::unique_ptr<CaptureSource>> open_capture_v1(const CaptureRequest& request);
bool recognise_acconeer_a121(const CaptureRequest& request);
Expected<std::unique_ptr<CaptureSource>> open_acconeer_a121(const CaptureRequest& request);
Expected<std::unique_ptr<CaptureSource>> open_ti_2lane(const CaptureRequest& request);
Expected<std::unique_ptr<CaptureSource>> open_array_capture(const CaptureRequest& request);

}  // namespace cornerturn
