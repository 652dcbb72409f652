# Every library the project takes, in one place; docs/architecture.md gives the reason for each.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

# dsp
pkg_check_modules(FFTW3F REQUIRED IMPORTED_TARGET fftw3f)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_path(TL_EXPECTED_INCLUDE_DIR tl/expected.hpp REQUIRED)

# src
set(HDF5_PREFER_PARALLEL OFF)
find_package(HDF5 REQUIRED COMPONENTS C HL)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)

if(NOT CORNERTURN_MINIMAL)
  pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo)
endif()

# Fingerprint of a capture in its results; header only, left out by the minimal build when absent.
find_path(XXHASH_INCLUDE_DIR xxhash.h)
if(NOT XXHASH_INCLUDE_DIR AND NOT CORNERTURN_MINIMAL)
  message(FATAL_ERROR "xxhash.h not found: install libxxhash-dev, or set CORNERTURN_MINIMAL")
endif()
