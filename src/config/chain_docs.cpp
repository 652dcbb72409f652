#include "src/config/chain_docs.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "src/config/chain_key.h"
#include "src/config/chain_toml.h"

namespace cornerturn {
namespace {

struct SectionText {
  std::string_view section;
  std::string_view title;
  std::string_view text;
};

constexpr std::array kSections{
    SectionText{"", "Clutter", "A key of the root table: in a file it stands above the first `[section]`."},
    SectionText{"input", "[input]",
                "From the stored samples to numbers. The layout, the scale and the channel "
                "calibration come from the capture."},
    SectionText{"range", "[range]",
                "FMCW: window and FFT over fast time. Pulse: matched filter with the replica. Sensors "
                "that deliver range gates: no range stage, only the limits count."},
    SectionText{"doppler", "[doppler]", "Window and FFT over the pulses of a CPI; zero Doppler lies in the middle."},
    SectionText{"cfar", "[cfar]",
                "Cell-averaging CFAR on the mean power of the channels. At the edges of the map "
                "the factor is computed anew for the cells that are left, so that the rate of false "
                "alarms stays the same."},
    SectionText{"grouping", "[grouping]", "From alarms to detections."},
    SectionText{"covariance", "[covariance]",
                "Sample covariance of the channels, one matrix per gate, averaged over the "
                "pulses behind the canceller."},
    SectionText{"angle", "[angle]",
                "Azimuth of each detection, by Bartlett and by Capon, from the gates around it in its "
                "Doppler bin."},
};

constexpr std::string_view kIntroduction =
    R"(# The chain file

One TOML file configures the processing chain. `cornerturn process CAPTURE --print-chain` prints the chain that would be
used, complete and with a comment per key; save it, change it, and give it back with `-c chain.toml`. Three layers, the
later one wins:

1. the default chain for the kind of capture,
2. the file given with `-c`,
3. single keys: `--set cfar.pfa=1e-4 --set canceller=mean`.

A key that is left out keeps its default. Unknown keys, values out of range and contradictions between keys are errors
that name file, line and key, found before anything starts. Keys marked *live* may change from CPI to CPI without
a new pipeline. Units are part of a key's name.

This page is made from the table that the program itself checks with: `cornerturn process --print-chain-docs`.
)";

}  // namespace

std::string chain_documentation() {
  std::string text(kIntroduction);
  for (const SectionText& section : kSections) {
    text += fmt::format("\n## {}\n\n{}\n\n| key | default | allowed | meaning |\n|---|---|---|---|\n", section.title,
                        section.text);
    for (const ChainKey& key : chain_keys()) {
      if (key.section() != section.section) continue;
      const std::string unit = key.unit.empty() ? "" : " " + key.unit;
      text += fmt::format("| `{}` | `{}`{} | {} | {}{} |\n", key.name, to_toml(key.get(ChainConfig())), unit,
                          describe_allowed(key), key.doc, key.light ? " (*live*)" : "");
    }
  }
  text += fmt::format("\n## The default as a file\n\n```toml\n{}```\n", print_chain(ChainConfig()));
  return text;
}

}  // namespace cornerturn
