#include <array>

#include "src/capture/capture_format.h"

namespace cornerturn {
namespace {

bool never(const CaptureRequest&) { return false; }

// A new format is one file and one line here; the first that recognises a file takes it.
constexpr std::array<CaptureFormat, 4> kFormats{{
    {"capture_v1", "Cornerturn capture v1 (HDF5), made by simulate and convert", recognise_capture_v1, open_capture_v1},
    {"acconeer_a121", "Acconeer A121 recordings (HDF5 of the Exploration Tool)", recognise_acconeer_a121,
     open_acconeer_a121},
    {"ti_2lane", "TI xWR16xx/18xx/68xx raw ADC data of a DCA1000 (.bin), with a sidecar", never, open_ti_2lane},
    {"array", "any array in HDF5, .npy or raw bytes, with a sidecar", never, open_array_capture},
}};

}  // namespace

std::span<const CaptureFormat> capture_registry() { return kFormats; }

}  // namespace cornerturn
