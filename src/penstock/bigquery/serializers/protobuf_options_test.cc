#include "penstock/bigquery/serializers/protobuf_options.h"

#include <gmock/gmock.h>

namespace penstock::bigquery {
namespace {

using base::OptionSpelling;
using testing::ElementsAre;
using testing::HasSubstr;

absl::StatusOr<ProtoSchemaOptions> parsedOptions(const std::map<std::string, std::string>& values) {
  ProtobufOptions options;
  PENSTOCK_RETURN_IF_ERROR(protobufOptionSet().set(options, values));
  return options.schemaOptions(OptionSpelling::kKey);
}

std::string refusal(const std::string& key, const std::string& text) {
  return std::string(base::messageOf(parsedOptions({{key, text}}).status()));
}

TEST(ProtobufOptions, SayWhatBecomesOfFields) {  // BQT-015, BQT-020
  const auto options =
      parsedOptions({{"protobuf.json-field-paths", "items.note,attributes"},
                     {"protobuf.json-field-options", "50001, shop.is_json = 50002"},
                     {"protobuf.geography-field-paths", "place"},
                     {"protobuf.geography-field-options", "shop.is_place=50003"},
                     {"protobuf.derive-required-columns", "true"}});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(options->jsonFieldPaths, ElementsAre("items.note", "attributes"));
  ASSERT_EQ(options->jsonFieldOptions.size(), 2U);
  EXPECT_EQ(options->jsonFieldOptions[0].number, 50001);
  EXPECT_EQ(options->jsonFieldOptions[0].fullName, "") << "the number alone decides";
  EXPECT_EQ(options->jsonFieldOptions[1].number, 50002);
  EXPECT_EQ(options->jsonFieldOptions[1].fullName, "shop.is_json");
  EXPECT_THAT(options->geographyFieldPaths, ElementsAre("place"));
  ASSERT_EQ(options->geographyFieldOptions.size(), 1U);
  EXPECT_EQ(options->geographyFieldOptions[0].fullName, "shop.is_place");
  EXPECT_TRUE(options->deriveRequiredColumns);
  EXPECT_FALSE(options->ignoreFieldsWithoutColumn) << "the host's own setting";
}

TEST(ProtobufOptions, AreAllOffUnlessSet) {
  const auto options = parsedOptions({});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_TRUE(options->jsonFieldPaths.empty());
  EXPECT_TRUE(options->geographyFieldOptions.empty());
  EXPECT_FALSE(options->deriveRequiredColumns);
  ProtobufOptions rejecting;
  EXPECT_FALSE(rejecting.messageOptions().rejectUnknownFields);
  ASSERT_TRUE(
      protobufOptionSet().set(rejecting, {{"protobuf.reject-unknown-fields", "true"}}).ok());
  EXPECT_TRUE(rejecting.messageOptions().rejectUnknownFields);
}

TEST(ProtobufOptions, RefuseWhatIsNoOptionOnAField) {
  for (const char* text : {"shop.is_json", "=50001", "50001x", "shop.is_json=", "1e5", "0x10"}) {
    EXPECT_THAT(refusal("protobuf.json-field-options", text),
                HasSubstr(std::string("protobuf.json-field-options: '") + text + "' is not"))
        << text;
  }
  ProtobufOptions options;
  options.geographyFieldOptions = {"x"};
  EXPECT_THAT(std::string(base::messageOf(options.schemaOptions(OptionSpelling::kFlag).status())),
              HasSubstr("--geography-field-options: 'x'"));
}

TEST(ProtobufOptions, RefuseBlankPaths) {
  EXPECT_THAT(refusal("protobuf.json-field-paths", "a, ,b"),
              HasSubstr("protobuf.json-field-paths"));
}

}  // namespace
}  // namespace penstock::bigquery
