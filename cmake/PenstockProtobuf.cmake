# penstock_protobuf_messages(TARGET file.proto): a static library of the C++ that protoc makes of a .proto file of
# this tree, whose header is included by the file's path: "bench/reading.pb.h". The serialized descriptor set of
# the file and what it imports lies beside it: bench/reading.set in the build folder.
function(penstock_protobuf_messages target file)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  file(RELATIVE_PATH relative ${PROJECT_SOURCE_DIR} ${source})
  string(REGEX REPLACE "\\.proto$" "" stem ${PROJECT_BINARY_DIR}/protobuf/${relative})
  get_filename_component(folder ${stem} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${stem}.pb.cc ${stem}.pb.h ${stem}.set
    COMMAND protobuf::protoc -I ${PROJECT_SOURCE_DIR} --cpp_out=${PROJECT_BINARY_DIR}/protobuf
      --include_imports --descriptor_set_out=${stem}.set ${source}
    DEPENDS ${source} VERBATIM)
  add_library(${target} STATIC ${stem}.pb.cc ${stem}.pb.h)
  target_include_directories(${target} SYSTEM PUBLIC ${PROJECT_BINARY_DIR}/protobuf)
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf)
  # Generated code is not ours to warn about or to sanitize.
  target_compile_options(${target} PRIVATE -w -fno-sanitize=all)
endfunction()

# penstock_protobuf_sources(TARGET file.proto [FOLDER]): the same as sources of a library, for messages that only its
# own .cc files see; the header is included as "penstock/.../file.pb.h". FOLDER: where to put them, for a second library
# that compiles the same sources.
function(penstock_protobuf_sources target file)
  get_filename_component(source ${file} ABSOLUTE)
  set(root ${PROJECT_BINARY_DIR}/protobuf)
  if(ARGC GREATER 2)
    set(root ${ARGV2})
  endif()
  file(RELATIVE_PATH relative ${PROJECT_SOURCE_DIR}/src ${source})
  string(REGEX REPLACE "\\.proto$" "" stem ${root}/${relative})
  get_filename_component(folder ${stem} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${stem}.pb.cc ${stem}.pb.h
    COMMAND protobuf::protoc -I ${PROJECT_SOURCE_DIR}/src --cpp_out=${root} ${source}
    DEPENDS ${source} VERBATIM)
  target_sources(${target} PRIVATE ${stem}.pb.cc ${stem}.pb.h)
  target_include_directories(${target} SYSTEM PRIVATE ${root})
  set_source_files_properties(${stem}.pb.cc PROPERTIES COMPILE_OPTIONS "-w;-fno-sanitize=all" SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
