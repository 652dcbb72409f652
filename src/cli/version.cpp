#include "src/cli/version.h"

#include <H5public.h>
#include <fmt/format.h>

#include "src/stream/backend_choice.h"

namespace cornerturn {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

#ifdef CORNERTURN_HAVE_CAIRO
constexpr const char* kPictures = "PNG, SVG (cairo)";
#else
constexpr const char* kPictures = "none (built without cairo)";
#endif

#ifdef CORNERTURN_HAVE_XXHASH
constexpr const char* kHash = "xxh3-128";
#else
constexpr const char* kHash = "none (built without xxhash)";
#endif

std::string backends() {
  std::string text;
  for (const BackendAvailability& backend : available_backends())
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", backend.name, backend.available ? "" : " (not available)");
  return text;
}

}  // namespace

std::string program_version() { return CORNERTURN_VERSION; }

std::string version_text() {
  return fmt::format(
      "cornerturn {}\n"
      "  build         {}, {}{}\n"
      "  backends      {}\n"
      "  HDF5          {}.{}.{}\n"
      "  pictures      {}\n"
      "  capture hash  {}\n",
      program_version(), kCompiler, CORNERTURN_BUILD_TYPE,
      *CORNERTURN_SANITIZERS == '\0' ? "" : ", sanitizers " CORNERTURN_SANITIZERS, backends(), H5_VERS_MAJOR,
      H5_VERS_MINOR, H5_VERS_RELEASE, kPictures, kHash);
}

}  // namespace cornerturn
