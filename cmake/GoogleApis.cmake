# Builds penstock::api: the generated C++ of the Google API definitions that Penstock speaks.
# The .proto files come from the pinned npm package google-proto-files, fetched by `make setup` into
# third_party/google-apis/node_modules (lock file with integrity hashes); none is kept in this tree.
set(PENSTOCK_GOOGLE_APIS "${PROJECT_SOURCE_DIR}/third_party/google-apis/node_modules/google-proto-files"
  CACHE PATH "Folder with google/cloud/bigquery/storage/v1/*.proto")
if(NOT EXISTS "${PENSTOCK_GOOGLE_APIS}/google/cloud/bigquery/storage/v1/storage.proto")
  message(FATAL_ERROR "Google's API definitions are not in ${PENSTOCK_GOOGLE_APIS}: run `make setup` first "
    "(it fetches the pinned npm package), or set PENSTOCK_GOOGLE_APIS.")
endif()

find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
set(generated "${PROJECT_BINARY_DIR}/generated")
file(MAKE_DIRECTORY ${generated})
set(messages
  google/api/annotations google/api/client google/api/field_behavior google/api/http google/api/launch_stage
  google/api/resource google/rpc/status
  google/cloud/bigquery/storage/v1/annotations google/cloud/bigquery/storage/v1/arrow
  google/cloud/bigquery/storage/v1/avro google/cloud/bigquery/storage/v1/protobuf
  google/cloud/bigquery/storage/v1/storage google/cloud/bigquery/storage/v1/stream
  google/cloud/bigquery/storage/v1/table)
set(services google/cloud/bigquery/storage/v1/storage)

set(api_sources "")
foreach(message ${messages})
  set(outputs ${generated}/${message}.pb.cc ${generated}/${message}.pb.h)
  set(arguments --cpp_out=${generated})
  if(message IN_LIST services)
    list(APPEND outputs ${generated}/${message}.grpc.pb.cc ${generated}/${message}.grpc.pb.h)
    list(APPEND arguments --grpc_out=${generated} --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN})
  endif()
  add_custom_command(OUTPUT ${outputs}
    COMMAND protobuf::protoc ${arguments} -I ${PENSTOCK_GOOGLE_APIS} ${PENSTOCK_GOOGLE_APIS}/${message}.proto
    DEPENDS ${PENSTOCK_GOOGLE_APIS}/${message}.proto VERBATIM)
  list(APPEND api_sources ${outputs})
endforeach()

add_library(penstock_api STATIC ${api_sources})
add_library(penstock::api ALIAS penstock_api)
target_include_directories(penstock_api SYSTEM PUBLIC $<BUILD_INTERFACE:${generated}> $<INSTALL_INTERFACE:include>)
target_link_libraries(penstock_api PUBLIC protobuf::libprotobuf gRPC::grpc++)
set_target_properties(penstock_api PROPERTIES UNITY_BUILD OFF)  # its files define the same names
# Generated code is not ours to sanitize: it would only cost build time.
target_compile_options(penstock_api PRIVATE -w -g0 -fno-sanitize=all)
penstock_install_library(penstock_api api)
