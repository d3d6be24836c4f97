# Fuzz targets: each *_fuzz.cc defines LLVMFuzzerTestOneInput and becomes a program of its file's name, linked with
# libFuzzer. Built in the preset `fuzz`; scripts/fuzz.sh runs all of them. Seed inputs, where a target has some,
# lie in tests/fuzz/corpus/<program>/.
if(PENSTOCK_BUILD_FUZZERS)
  add_custom_target(penstock_fuzz_targets)
endif()

# penstock_fuzz_targets(SOURCES LIBRARIES...): those of the sources that are fuzz targets.
function(penstock_fuzz_targets sources)
  if(NOT PENSTOCK_BUILD_FUZZERS)
    return()
  endif()
  list(FILTER sources INCLUDE REGEX "_fuzz\\.cc$")
  foreach(source IN LISTS sources)
    get_filename_component(program ${source} NAME_WE)
    add_executable(${program} ${source})
    target_link_libraries(${program} PRIVATE ${ARGN})
    target_link_options(${program} PRIVATE -fsanitize=fuzzer)
    add_dependencies(penstock_fuzz_targets ${program})
  endforeach()
endfunction()
