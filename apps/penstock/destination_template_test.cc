#include "apps/penstock/destination_template.h"

#include <gmock/gmock.h>

namespace penstock::command {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string rendered(std::string_view text, const std::vector<std::string>& values) {
  const auto parsed = DestinationTemplate::parse(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? parsed->render(values).dotted() : "";
}

std::string templateRefusal(std::string_view text) {
  return std::string(base::messageOf(DestinationTemplate::parse(text).status()));
}

TEST(DestinationTemplate, WithoutAFieldIsOneTable) {
  const auto parsed = DestinationTemplate::parse("example.com:p.d.t$$2026");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(parsed->isFixed());
  EXPECT_EQ(parsed->table().project, "example.com:p");
  EXPECT_EQ(parsed->table().dataset, "d");
  EXPECT_EQ(parsed->table().table, "t$2026");
}

TEST(DestinationTemplate, PutsFieldsIntoEachPart) {
  EXPECT_EQ(rendered("p.d.events_${country}", {"at"}), "p.d.events_at");
  EXPECT_EQ(rendered("p-${env}.${tenant.id}.t_${a}_${b}", {"test", "t1", "x", "y"}),
            "p-test.t1.t_x_y");
  EXPECT_EQ(rendered("p.d.${a}${b}${a}", {"x", "y"}), "p.d.xyx");
  EXPECT_EQ(rendered("${a}.${a}.${a}", {"v"}), "v.v.v");
  const auto parsed = DestinationTemplate::parse(R"(p.d.${"a.b\"}".c}_${d})");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_THAT(parsed->fields(), ElementsAre(ElementsAre("a.b\"}", "c"), ElementsAre("d")));
}

TEST(DestinationTemplate, DotsOfAValueSeparateNothing) {
  const auto parsed = DestinationTemplate::parse("p.d.t_${x}");
  ASSERT_TRUE(parsed.ok());
  const std::vector<std::string> values = {"a.b"};
  EXPECT_EQ(parsed->render(values).table, "t_a.b");
  EXPECT_EQ(parsed->render(values).dataset, "d");
}

TEST(DestinationTemplate, KnowsTheDatasetWhereNoFieldIsInIt) {
  EXPECT_EQ(DestinationTemplate::parse("p.d.t_${x}")->knownDataset().dataset, "d");
  EXPECT_THAT(DestinationTemplate::parse("p.d_${x}.t")->knownDataset().dataset, IsEmpty());
}

TEST(DestinationTemplate, RefusesSayingWhereAndWhatIsExpected) {
  EXPECT_THAT(templateRefusal("p.d.t_$country"), HasSubstr("a lone $ at character 7"));
  EXPECT_THAT(templateRefusal("p.d.t_${country"), HasSubstr("does not end with }"));
  EXPECT_THAT(templateRefusal("p.d.t_${}"), HasSubstr("a field without a name"));
  EXPECT_THAT(templateRefusal("p.d.t_${a..b}"), HasSubstr("a field without a name"));
  EXPECT_THAT(templateRefusal("p.d.t_${\"a}"), HasSubstr("a quoted name without its end"));
  EXPECT_THAT(templateRefusal("p.d.t_${\"a\\q\"}"), HasSubstr("escape"));
  EXPECT_THAT(templateRefusal("d.t_${a}"), HasSubstr("PROJECT.DATASET.TABLE"));
  EXPECT_THAT(templateRefusal("${a.b.c}"), HasSubstr("PROJECT.DATASET.TABLE"));
  EXPECT_THAT(templateRefusal("p.d/x.t_${a}"), HasSubstr("must not contain '/'"));
  EXPECT_THAT(templateRefusal("p..t"), HasSubstr("dataset must not be blank"));
}

}  // namespace
}  // namespace penstock::command
