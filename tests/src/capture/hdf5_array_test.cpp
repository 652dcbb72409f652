#include "src/capture/hdf5_array.h"

#include <array>

#include <gtest/gtest.h>

#include "tests/src/capture/capture_files.h"

namespace cornerturn {
namespace {

constexpr std::array<hsize_t, 3> kShape{6, 4, 5};

h5::Dataset make_dataset(const h5::File& file, const std::string& name, hid_t type, bool chunked, bool gzip,
                         std::array<hsize_t, 3> chunk = {2, 4, 5}) {
  h5::Properties creation(H5Pcreate(H5P_DATASET_CREATE));
  if (chunked) H5Pset_chunk(creation.id(), 3, chunk.data());
  if (gzip) H5Pset_deflate(creation.id(), 1);
  return h5::create_dataset(file.id(), name, type, h5::make_space(kShape), creation.id());
}

std::vector<std::int16_t> read(const ArrayFile& array, const ArrayBox& box) {
  std::vector<std::int16_t> out(box.element_count() * array.element().scalars);
  const auto done = array.read_box(box, std::as_writable_bytes(std::span(out)));
  EXPECT_TRUE(done) << (done ? "" : done.error().message());
  return out;
}

TEST(Hdf5Array, ContiguousRowChunkedAndPackedDataAreTheSame) {
  const CaptureFolder folder;
  const auto values = counted<std::int16_t>(120);
  {
    const h5::File file = h5::create_file(folder / "a.h5");
    h5::write_all(make_dataset(file, "plain", H5T_STD_I16LE, false, false), H5T_NATIVE_INT16, values.data(), "");
    h5::write_all(make_dataset(file, "rows", H5T_STD_I16LE, true, false), H5T_NATIVE_INT16, values.data(), "");
    h5::write_all(make_dataset(file, "tiles", H5T_STD_I16LE, true, false, {2, 2, 2}), H5T_NATIVE_INT16, values.data(),
                  "");
    h5::write_all(make_dataset(file, "gzip", H5T_STD_I16LE, true, true), H5T_NATIVE_INT16, values.data(), "");
  }
  const auto plain = open_hdf5_array(folder / "a.h5", "plain");
  ASSERT_TRUE(plain) << plain.error().message();
  EXPECT_NE((*plain)->describe().find("by file offset from byte"), std::string::npos);
  for (const auto& [name, words] :
       {std::pair{"rows", "by file offset in blocks of 2"}, std::pair{"tiles", "through the HDF5 library"},
        std::pair{"gzip", "through the HDF5 library"}}) {
    const auto other = open_hdf5_array(folder / "a.h5", name);
    ASSERT_TRUE(other) << other.error().message();
    EXPECT_NE((*other)->describe().find(words), std::string::npos) << (*other)->describe();
    for (const ArrayBox& box :
         {ArrayBox{{0, 0, 0}, {6, 4, 5}}, ArrayBox{{1, 0, 0}, {4, 4, 5}}, ArrayBox{{3, 1, 2}, {2, 2, 3}}})
      EXPECT_EQ(read(**other, box), read(**plain, box)) << name;
  }
}

TEST(Hdf5Array, ReadsBigEndianAndComplexCompoundsInPlace) {
  const CaptureFolder folder;
  std::vector<std::int16_t> values = counted<std::int16_t>(240);
  {
    const h5::File file = h5::create_file(folder / "a.h5");
    for (const auto& [first, second] : {std::pair{"real", "imag"}, std::pair{"imag", "real"}, std::pair{"i", "q"}}) {
      const h5::Datatype file_type = h5::pair_type(H5T_STD_I16BE, first, second);
      const h5::Datatype memory_type = h5::pair_type(H5T_NATIVE_INT16, first, second);
      h5::write_all(make_dataset(file, first, file_type.id(), false, false), memory_type.id(), values.data(), "");
    }
  }
  for (const auto& [name, i_scalar] : {std::pair{"real", 0U}, std::pair{"imag", 1U}, std::pair{"i", 0U}}) {
    const auto array = open_hdf5_array(folder / "a.h5", name);
    ASSERT_TRUE(array) << array.error().message();
    EXPECT_TRUE((*array)->element().complex_pair);
    EXPECT_TRUE((*array)->element().big_endian);
    EXPECT_EQ((*array)->element().i_scalar, i_scalar) << name;
    const auto bytes = read(**array, {{0, 0, 1}, {1, 1, 1}});
    EXPECT_EQ(bytes[0], 0x0200) << "value 2, bytes as in the file";
  }
}

TEST(Hdf5Array, FindsDataBehindAUserBlock) {
  const CaptureFolder folder;
  const auto values = counted<std::int16_t>(120);
  {
    const h5::Properties creation(H5Pcreate(H5P_FILE_CREATE));
    H5Pset_userblock(creation.id(), 1024);
    const h5::File file(H5Fcreate((folder / "a.h5").c_str(), H5F_ACC_TRUNC, creation.id(), H5P_DEFAULT));
    h5::write_all(make_dataset(file, "plain", H5T_STD_I16LE, false, false), H5T_NATIVE_INT16, values.data(), "");
    h5::write_all(make_dataset(file, "rows", H5T_STD_I16LE, true, false), H5T_NATIVE_INT16, values.data(), "");
  }
  for (const char* name : {"plain", "rows"}) {
    const auto array = open_hdf5_array(folder / "a.h5", name);
    ASSERT_TRUE(array) << array.error().message();
    EXPECT_EQ(read(**array, {{0, 0, 0}, {6, 4, 5}}), values) << name;
  }
}

TEST(Hdf5Array, RefusesWhatIsNoArrayOfNumbers) {
  const CaptureFolder folder;
  {
    const h5::File file = h5::create_file(folder / "a.h5");
    h5::create_dataset(file.id(), "text", H5T_C_S1, h5::make_space(kShape));
    h5::create_dataset(file.id(), "long", H5T_STD_I64LE, h5::make_space(kShape));
    h5::create_dataset(file.id(), "scalar", H5T_STD_I16LE, h5::Dataspace(H5Screate(H5S_SCALAR)));
    h5::create_dataset(file.id(), "none", H5T_STD_I16LE, h5::make_space({0, 4}));
    h5::create_group(file.id(), "group");
  }
  const auto message = [&](const char* name) {
    const auto array = open_hdf5_array(folder / "a.h5", name);
    EXPECT_FALSE(array) << name;
    EXPECT_EQ(array.error().kind, ErrorKind::input);
    return array.error().message();
  };
  EXPECT_NE(message("text").find("no plain numbers"), std::string::npos);
  EXPECT_NE(message("long").find("no plain numbers"), std::string::npos);
  EXPECT_NE(message("scalar").find("single value"), std::string::npos);
  EXPECT_NE(message("none").find("no samples"), std::string::npos);
  EXPECT_NE(message("missing").find("there are: long, none, scalar, text"), std::string::npos) << message("missing");
  EXPECT_NE(message("group").find("no such dataset"), std::string::npos);
}

TEST(Hdf5Array, RefusesDataInOtherFiles) {
  const CaptureFolder folder;
  const auto values = counted<std::int16_t>(120);
  {
    const h5::File other = h5::create_file(folder / "other.h5");
    h5::write_all(make_dataset(other, "secret", H5T_STD_I16LE, false, false), H5T_NATIVE_INT16, values.data(), "");
    write_values(folder / "outside.bin", values);
    const h5::File file = h5::create_file(folder / "a.h5");
    H5Lcreate_external("other.h5", "secret", file.id(), "link", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/link", file.id(), "detour", H5P_DEFAULT, H5P_DEFAULT);
    const h5::Properties external(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_external(external.id(), (folder / "outside.bin").c_str(), 0, 240);
    h5::create_dataset(file.id(), "external", H5T_STD_I16LE, h5::make_space(kShape), external.id());
    const h5::Properties source(H5Pcreate(H5P_DATASET_CREATE));
    const h5::Dataspace space = h5::make_space(kShape);
    H5Pset_virtual(source.id(), space.id(), "other.h5", "secret", space.id());
    // Virtual datasets need the 1.10 format.
    const h5::Properties access(H5Pcreate(H5P_FILE_ACCESS));
    const h5::File newest(H5Fcreate((folder / "v.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()));
    h5::create_dataset(newest.id(), "virtual", H5T_STD_I16LE, space, source.id());
  }
  for (const auto& [file, name, words] :
       {std::tuple{"a.h5", "link", "external link"}, std::tuple{"a.h5", "detour", "external link"},
        std::tuple{"a.h5", "external", "external storage"}, std::tuple{"v.h5", "virtual", "virtual"}}) {
    const auto array = open_hdf5_array(folder / file, name);
    ASSERT_FALSE(array) << name;
    EXPECT_NE(array.error().message().find(words), std::string::npos) << array.error().message();
    EXPECT_NE(array.error().message().find("not followed"), std::string::npos) << array.error().message();
  }
}

TEST(Hdf5Array, NamesTheFilterThatIsMissing) {
  const CaptureFolder folder;
  {
    const h5::File file = h5::create_file(folder / "a.h5");
    const h5::Properties creation(H5Pcreate(H5P_DATASET_CREATE));
    const std::array<hsize_t, 3> chunk{2, 4, 5};
    H5Pset_chunk(creation.id(), 3, chunk.data());
    H5Pset_filter(creation.id(), 32001, H5Z_FLAG_OPTIONAL, 0, nullptr);  // blosc
    h5::create_dataset(file.id(), "packed", H5T_STD_I16LE, h5::make_space(kShape), creation.id());
  }
  const auto array = open_hdf5_array(folder / "a.h5", "packed");
  ASSERT_FALSE(array);
  EXPECT_NE(array.error().message().find("filter 32001"), std::string::npos) << array.error().message();
}

TEST(Hdf5Array, ReadsWhatWasNeverWrittenThroughTheLibrary) {
  const CaptureFolder folder;
  {
    const h5::File file = h5::create_file(folder / "a.h5");
    make_dataset(file, "plain", H5T_STD_I16LE, false, false);
    make_dataset(file, "rows", H5T_STD_I16LE, true, false);
  }
  for (const char* name : {"plain", "rows"}) {
    const auto array = open_hdf5_array(folder / "a.h5", name);
    ASSERT_TRUE(array) << array.error().message();
    EXPECT_EQ(read(**array, {{0, 0, 0}, {6, 4, 5}}), std::vector<std::int16_t>(120, 0));
  }
}

}  // namespace
}  // namespace cornerturn
