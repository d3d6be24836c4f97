#include "penstock/emulator/service/row_checks_cache.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

namespace penstock::emulator {
namespace {

using ::testing::HasSubstr;

RowDescriptor descriptorNamed(const std::string& id) {
  google::protobuf::DescriptorProto descriptor;
  descriptor.set_name("Row");
  auto& field = *descriptor.add_field();
  field.set_name("n");
  field.set_number(1);
  field.set_type(google::protobuf::FieldDescriptorProto::TYPE_INT64);
  return {id, descriptor.SerializeAsString()};
}

Table tableWith(uint64_t id, uint64_t schemaVersion) {
  Table table;
  table.id = id;
  table.schemaVersion = schemaVersion;
  Field field;
  field.name = "n";
  field.type = FieldType::kInt64;
  table.schema.fields = {field};
  return table;
}

TEST(RowChecksCache, CompilesOncePerDescriptorTableAndSchemaVersion) {
  RowChecksCache cache;
  const auto first = cache.find(descriptorNamed("a"), tableWith(1, 1));
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*cache.find(descriptorNamed("a"), tableWith(1, 1)), *first);
  EXPECT_NE(*cache.find(descriptorNamed("b"), tableWith(1, 1)), *first);
  EXPECT_NE(*cache.find(descriptorNamed("a"), tableWith(2, 1)), *first);
  EXPECT_NE(*cache.find(descriptorNamed("a"), tableWith(1, 2)), *first);
}

TEST(RowChecksCache, ForgetsWhatWasUsedTheLongestAgo) {
  RowChecksCache cache(2);
  const auto first = *cache.find(descriptorNamed("a"), tableWith(1, 1));
  const auto second = *cache.find(descriptorNamed("a"), tableWith(2, 1));
  ASSERT_EQ(*cache.find(descriptorNamed("a"), tableWith(1, 1)), first);
  ASSERT_TRUE(cache.find(descriptorNamed("a"), tableWith(3, 1)).ok());
  EXPECT_EQ(*cache.find(descriptorNamed("a"), tableWith(1, 1)), first);
  EXPECT_NE(*cache.find(descriptorNamed("a"), tableWith(2, 1)), second);
}

TEST(RowChecksCache, RefusesBytesThatAreNoDescriptor) {
  RowChecksCache cache;
  const auto checks = cache.find(RowDescriptor{"a", "\x0A"}, tableWith(1, 1));
  EXPECT_EQ(checks.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(checks.status().message()), HasSubstr("proto_descriptor"));
}

}  // namespace
}  // namespace penstock::emulator
