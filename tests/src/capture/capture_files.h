#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "dsp/stage/unpack.h"
#include "src/capture/capture_source.h"
#include "src/capture/scratch_slot.h"

namespace cornerturn {

/// A folder of its own for each test, gone afterwards.
class CaptureFolder {
 public:
  CaptureFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "cornerturn-capture-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~CaptureFolder() { std::filesystem::remove_all(path_); }
  CaptureFolder(const CaptureFolder&) = delete;
  CaptureFolder& operator=(const CaptureFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline void write_bytes(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

template <typename T> void write_values(const std::string& path, const std::vector<T>& values) {
  write_bytes(path, std::as_bytes(std::span(values)));
}

inline void write_text(const std::string& path, const std::string& text) {
  write_bytes(path, std::as_bytes(std::span(text)));
}

/// A .npy file of version 1: the header that numpy.save writes, then the bytes.
inline void write_npy(const std::string& path, const std::string& type, const std::string& shape,
                      std::span<const std::byte> bytes, bool fortran = false) {
  const std::string quoted = type.front() == '[' ? type : "'" + type + "'";
  std::string header =
      "{'descr': " + quoted + ", 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (" + shape + "), }";
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() % 256);
  file += static_cast<char>(header.size() / 256);
  file += header;
  file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  write_text(path, file);
}

template <typename T> std::vector<T> counted(std::size_t count, T first = T{0}) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(static_cast<double>(first) + static_cast<double>(i));
  return values;
}

/// The samples of the next CPI as (pulse, channel, sample); empty at the end.
inline std::vector<std::complex<float>> next_samples(CaptureSource& source, CpiHeader* header = nullptr) {
  const CaptureInfo& info = source.info();
  ScratchSlot slot(info.slot_bytes);
  WriteLease lease = slot.write();
  const auto filled = source.fill(lease);
  if (!filled) ADD_FAILURE() << filled.error().message();
  if (!filled || *filled == CaptureSource::Fill::end) return {};
  lease.commit();
  if (header != nullptr) *header = slot.cpi().header;
  const Unpacker unpacker(info.layout, info.shape.sample_count, DcRemoval::none, {});
  std::vector<std::complex<float>> samples(info.shape.samples());
  LineQuality quality;
  std::size_t line = 0;
  for (const RawSegment& segment : slot.cpi().segments)
    for (std::size_t pulse = 0; pulse < segment.pulse_count; ++pulse)
      for (std::size_t channel = 0; channel < info.shape.channel_count; ++channel, ++line)
        unpacker.process_generic({segment.bytes.data(), pulse, segment.first_pulse + pulse, channel, {}},
                                 std::span(samples).subspan(line * info.shape.sample_count, info.shape.sample_count),
                                 quality);
  return samples;
}

/// The folder of real recordings beside the checkout; empty when it is absent.
inline std::string real_captures() {
  const std::string path = std::string(CORNERTURN_SOURCE_DIR) + "/../shared/captures";
  return std::filesystem::is_directory(path) ? path : std::string();
}

}  // namespace cornerturn
