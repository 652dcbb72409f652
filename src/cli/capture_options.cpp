#include "src/cli/capture_options.h"

#include <CLI/CLI.hpp>

namespace cornerturn {

void add_capture_options(CLI::App& command, CaptureOptions& options) {
  command
      .add_option("--layout", options.layout_path,
                  "Sidecar TOML that says how the capture is stored (default: CAPTURE.cornerturn.toml if there is one)")
      ->type_name("FILE.toml");
  command
      .add_option_function<std::string>(
          "--iq-order",
          [&options](const std::string& word) {
            const Expected<IqOrder> order = parse_iq_order(word);
            if (!order) throw CLI::ValidationError("--iq-order", order.error().message());
            options.iq_order = *order;
          },
          "Order of I and Q: iq, qi, iiqq, qqii, planar_iq, planar_qi or real; stronger than the sidecar")
      ->type_name("WORD");
  command.add_option("--pulses", options.pulses_per_cpi, "Pulses per CPI; stronger than the sidecar")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000000).description(""));
}

}  // namespace cornerturn
