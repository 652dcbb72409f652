#include "src/capture/hdf5_inside.h"

namespace cornerturn::h5 {
namespace {

herr_t refuse(const char*, const char*, const char*, const char*, unsigned*, hid_t, void* refused) {
  *static_cast<bool*>(refused) = true;
  return -1;
}

/// Access properties whose traversal stops at external links. `refused` must outlive the call that uses them.
Properties guarded(hid_t property_class, bool& refused) {
  Properties access(checked("make properties", "", [&] { return H5Pcreate(property_class); }));
  checked("guard links", "", [&] { return H5Pset_elink_cb(access.id(), refuse, &refused); });
  return access;
}

template <typename Open> auto opened_or_named(const std::string& path, Open open) {
  bool refused = false;
  try {
    return open(refused);
  } catch (const Hdf5Error&) {
    if (refused) throw Hdf5Error("open", path, "it lies in another file, which is not followed");
    throw;
  }
}

}  // namespace

Object open_inside(const File& file, const std::string& path, bool& refused) {
  const Properties access = guarded(H5P_LINK_ACCESS, refused);
  return Object(checked("open", path, [&] { return H5Oopen(file.id(), path.c_str(), access.id()); }));
}

Dataset open_dataset_inside(const File& file, const std::string& path, bool& refused) {
  const Properties access = guarded(H5P_DATASET_ACCESS, refused);
  return Dataset(checked("open dataset", path, [&] { return H5Dopen2(file.id(), path.c_str(), access.id()); }));
}

Object open_inside(const File& file, const std::string& path) {
  return opened_or_named(path, [&](bool& refused) { return open_inside(file, path, refused); });
}

Dataset open_dataset_inside(const File& file, const std::string& path) {
  return opened_or_named(path, [&](bool& refused) { return open_dataset_inside(file, path, refused); });
}

bool exists_inside(const File& file, const std::string& path) {
  try {
    open_inside(file, path);
    return true;
  } catch (const Hdf5Error&) {
    return false;
  }
}

}  // namespace cornerturn::h5
