#include "src/capture/convert_capture.h"

#include "src/capture/capture_v1_writer.h"
#include "src/capture/scratch_slot.h"

namespace cornerturn {

Expected<std::size_t> convert_capture(CaptureSource& source, const std::string& path, const ConvertProgress& progress) {
  const CaptureInfo& info = source.info();
  auto writer = CaptureV1Writer::create(path, info);
  if (!writer) return unexpected(writer.error());
  ScratchSlot slot(info.slot_bytes);
  for (;;) {
    WriteLease lease = slot.write();
    const auto filled = source.fill(lease);
    if (!filled) return unexpected(filled.error());
    if (*filled == CaptureSource::Fill::end) break;
    lease.commit();
    if (auto done = writer->append(slot.cpi()); !done) return unexpected(done.error());
    if (progress && !progress(writer->cpi_count(), info.cpi_count))
      return unexpected({ErrorKind::interrupted, path, "stopped before all was written", "nothing is left of it"});
  }
  if (auto done = writer->finish(); !done) return unexpected(done.error());
  return writer->cpi_count();
}

}  // namespace cornerturn
