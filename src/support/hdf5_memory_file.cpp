#include <cstring>

#include "src/support/hdf5.h"

namespace cornerturn::h5 {
namespace {

void* image_malloc(size_t size, H5FD_file_image_op_t, void*) { return std::malloc(size); }
void* image_copy(void* to, const void* from, size_t size, H5FD_file_image_op_t, void*) {
  return std::memcpy(to, from, size);
}
void* image_realloc(void* memory, size_t size, H5FD_file_image_op_t, void*) { return std::realloc(memory, size); }
herr_t image_free(void* memory, H5FD_file_image_op_t operation, void* user) {
  if (operation == H5FD_FILE_IMAGE_OP_FILE_CLOSE) {
    static_cast<MemoryFile::Image*>(user)->memory.reset(static_cast<std::byte*>(memory));
  } else {
    std::free(memory);
  }
  return 0;
}
void* share_user(void* user) { return user; }
herr_t keep_user(void*) { return 0; }

/// End of file as the superblock (version 2 or 3, 8-byte addresses) states it; the memory behind it is slack.
std::size_t stored_end(const std::byte* image) {
  constexpr std::size_t kVersion = 8;
  constexpr std::size_t kOffsetSize = 9;
  constexpr std::size_t kEndOfFile = 28;
  const auto version = std::to_integer<int>(image[kVersion]);
  if ((version != 2 && version != 3) || std::to_integer<int>(image[kOffsetSize]) != 8)
    throw Hdf5Error("size file image", "", "unexpected superblock version " + std::to_string(version));
  std::uint64_t end = 0;
  for (std::size_t byte = 0; byte < 8; ++byte)
    end |= std::to_integer<std::uint64_t>(image[kEndOfFile + byte]) << (8 * byte);
  return static_cast<std::size_t>(end);
}

}  // namespace

MemoryFile::MemoryFile(const std::string& name, std::size_t growth_bytes) : image_(std::make_unique<Image>()) {
  const Properties creation = file_creation_properties();
  const Properties access = file_access_properties();
  checked("choose memory", name, [&] { return H5Pset_fapl_core(access.id(), growth_bytes, false); });
  H5FD_file_image_callbacks_t callbacks{image_malloc, image_copy, image_realloc, image_free,
                                        share_user,   keep_user,  image_.get()};
  checked("choose memory", name, [&] { return H5Pset_file_image_callbacks(access.id(), &callbacks); });
  file_ = File(checked("create file in memory", name,
                       [&] { return H5Fcreate(name.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()); }));
}

MemoryFile::Image MemoryFile::finish() {
  file_.close("file in memory");
  CORNERTURN_REQUIRE(image_->memory != nullptr);
  image_->size = stored_end(image_->memory.get());
  return std::move(*image_);
}

}  // namespace cornerturn::h5
