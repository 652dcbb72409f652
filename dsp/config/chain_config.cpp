#include "dsp/config/chain_config.h"

#include <array>

#include "dsp/vocabulary/word_table.h"

namespace cornerturn {
namespace {

constexpr std::array<Word<Canceller>, 4> kCancellers{{{Canceller::none, "none"},
                                                      {Canceller::mean, "mean"},
                                                      {Canceller::two_pulse, "two_pulse"},
                                                      {Canceller::three_pulse, "three_pulse"}}};
constexpr std::array<Word<CfarAxes>, 3> kCfarAxes{
    {{CfarAxes::range, "range"}, {CfarAxes::doppler, "doppler"}, {CfarAxes::range_doppler, "range_doppler"}}};
constexpr std::array<Word<DcRemoval>, 2> kDcRemovals{{{DcRemoval::none, "none"}, {DcRemoval::per_pulse, "per_pulse"}}};

}  // namespace

std::string_view to_string(Canceller canceller) { return word_of(kCancellers, canceller); }
std::string_view to_string(CfarAxes axes) { return word_of(kCfarAxes, axes); }
std::string_view to_string(DcRemoval removal) { return word_of(kDcRemovals, removal); }

Expected<Canceller> parse_canceller(std::string_view text) { return parse_word(kCancellers, text, "canceller"); }
Expected<CfarAxes> parse_cfar_axes(std::string_view text) { return parse_word(kCfarAxes, text, "set of CFAR axes"); }
Expected<DcRemoval> parse_dc_removal(std::string_view text) { return parse_word(kDcRemovals, text, "DC removal"); }

LightParameters light_parameters(const ChainConfig& config) {
  return {config.cfar.pfa, config.covariance.loading, config.angle.loading};
}

}  // namespace cornerturn
