# cornerturn_add_library(<name> DEPENDS <targets...>): a static library of every .cpp below the calling folder.
# Sources are globbed so that adding a file (a reader, a stage) touches no list.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library(cornerturn_options INTERFACE)
# Only for C++: nvcc knows these options by other names (kernels/CMakeLists.txt).
target_compile_options(cornerturn_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-sign-conversion>")
# g++ 12 warns falsely of overlap wherever a literal is put before a temporary string (GCC bug 105651).
target_compile_options(cornerturn_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>)
if(CORNERTURN_WERROR)
  target_compile_options(cornerturn_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Werror>")
endif()
if(CORNERTURN_NATIVE AND NOT CORNERTURN_SANITIZE)
  target_compile_options(cornerturn_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-march=native>")
endif()
if(CORNERTURN_SANITIZE)
  target_compile_options(cornerturn_options INTERFACE -fsanitize=${CORNERTURN_SANITIZE} -fno-omit-frame-pointer
                                                      -fno-sanitize-recover=all)
  target_link_options(cornerturn_options INTERFACE -fsanitize=${CORNERTURN_SANITIZE})
endif()
target_include_directories(cornerturn_options INTERFACE "${CMAKE_SOURCE_DIR}")

function(cornerturn_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC cornerturn_options ${arg_DEPENDS})
endfunction()
