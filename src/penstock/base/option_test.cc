#include "penstock/base/option.h"

#include <gmock/gmock.h>

namespace penstock::base {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

enum class Color { kRed, kDarkBlue };

struct Settings {
  int64_t maxRows = 10;
  int64_t bufferBytes = 1024;
  double factor = 2.0;
  bool verbose = false;
  Duration wait = 500ms;
  Duration patience = 0ms;
  Color color = Color::kRed;
  std::optional<std::string> place;
  std::optional<Endpoint> server;
  std::vector<std::string> names;
};

OptionSet<Settings> makeSet() {
  OptionSet<Settings> set;
  set.add(
      {.key = "test.max-rows", .rule = OptionRule::kPositive},
      [](auto& settings) -> auto& { return settings.maxRows; });
  set.add(
      {.key = "test.buffer-bytes", .type = OptionType::kByteSize, .rule = OptionRule::kPositive},
      [](auto& settings) -> auto& { return settings.bufferBytes; });
  set.add(
      {.key = "test.factor", .rule = OptionRule::kAtLeastOne},
      [](auto& settings) -> auto& { return settings.factor; });
  set.add(
      {.key = "test.verbose"}, [](auto& settings) -> auto& { return settings.verbose; });
  set.add(
      {.key = "test.wait", .rule = OptionRule::kAtLeastOneMillisecond},
      [](auto& settings) -> auto& { return settings.wait; });
  set.add(
      {.key = "test.patience", .rule = OptionRule::kZeroOrAtLeastOneMillisecond},
      [](auto& settings) -> auto& { return settings.patience; });
  set.addChoice(
      {.key = "test.color", .laterChoices = {"SHINY_GREEN"}},
      std::vector<std::pair<std::string, Color>>{{"RED", Color::kRed},
                                                 {"DARK_BLUE", Color::kDarkBlue}},
      [](auto& settings) -> auto& { return settings.color; });
  set.add(
      {.key = "test.place", .rule = OptionRule::kNotBlank},
      [](auto& settings) -> auto& { return settings.place; });
  set.add(
      {.key = "test.server"}, [](auto& settings) -> auto& { return settings.server; });
  set.add(
      {.key = "test.names", .rule = OptionRule::kNotBlank},
      [](auto& settings) -> auto& { return settings.names; });
  set.addLater({.key = "test.flush-interval", .type = OptionType::kDuration});
  return set;
}

absl::Status set(Settings& settings, const std::string& key, const std::string& text) {
  return makeSet().set(settings, std::map<std::string, std::string>{{"test." + key, text}});
}

std::string refusal(const std::string& key, const std::string& text) {
  Settings settings;
  const absl::Status status = set(settings, key, text);
  return status.ok() ? "accepted" : std::string(messageOf(status));
}

TEST(OptionSet, ReadsEveryType) {
  Settings settings;
  ASSERT_TRUE(set(settings, "max-rows", "7").ok());
  ASSERT_TRUE(set(settings, "buffer-bytes", "2 KiB").ok());
  ASSERT_TRUE(set(settings, "factor", "1.5").ok());
  ASSERT_TRUE(set(settings, "verbose", "true").ok());
  ASSERT_TRUE(set(settings, "wait", "2 s").ok());
  ASSERT_TRUE(set(settings, "color", "DARK_BLUE").ok());
  ASSERT_TRUE(set(settings, "place", "EU").ok());
  ASSERT_TRUE(set(settings, "server", "h:1").ok());
  ASSERT_TRUE(set(settings, "names", "a, b").ok());
  EXPECT_EQ(settings.maxRows, 7);
  EXPECT_EQ(settings.bufferBytes, 2048);
  EXPECT_EQ(settings.factor, 1.5);
  EXPECT_TRUE(settings.verbose);
  EXPECT_EQ(settings.wait, 2s);
  EXPECT_EQ(settings.color, Color::kDarkBlue);
  EXPECT_EQ(settings.place, "EU");
  EXPECT_EQ(settings.server, (Endpoint{"h", 1}));
  EXPECT_THAT(settings.names, ::testing::ElementsAre("a", "b"));
}

TEST(OptionSet, TakesChoicesInKebabCaseAndByTheirLastWords) {
  for (const char* text : {"dark-blue", "dark_blue", "Dark-Blue", "DARK_BLUE", "blue"}) {
    Settings settings;
    ASSERT_TRUE(set(settings, "color", text).ok()) << text;
    EXPECT_EQ(settings.color, Color::kDarkBlue);
  }
}

TEST(OptionSet, RefusesNamingTheOptionAndTheValue) {  // BASE-002
  const std::pair<const char*, const char*> bad[] = {{"max-rows", "0"},
                                                     {"max-rows", "-1"},
                                                     {"max-rows", "x"},
                                                     {"max-rows", "1.5"},
                                                     {"max-rows", ""},
                                                     {"max-rows", "1 "},
                                                     {"max-rows", "9223372036854775808"},
                                                     {"factor", "0.99"},
                                                     {"factor", "nan"},
                                                     {"factor", "inf"},
                                                     {"factor", "two"},
                                                     {"verbose", "yes"},
                                                     {"buffer-bytes", "0"},
                                                     {"buffer-bytes", "1 M"},
                                                     {"wait", "0"},
                                                     {"wait", "999999 ns"},
                                                     {"patience", "1 ns"},
                                                     {"color", "YELLOW"},
                                                     {"color", ""},
                                                     {"color", "E"},
                                                     {"place", " "},
                                                     {"server", "h"},
                                                     {"names", "a,,b"}};
  for (const auto& [key, text] : bad) {
    EXPECT_THAT(refusal(key, text), AllOf(HasSubstr(fmt::format("test.{}", key)), HasSubstr(text)));
  }
}

TEST(OptionSet, ZeroIsASentinelThatHalfAMillisecondIsNot) {  // BASE-003 scenario 5
  Settings settings;
  settings.patience = 1s;
  ASSERT_TRUE(set(settings, "patience", "0").ok());
  EXPECT_EQ(settings.patience, 0s);
  EXPECT_THAT(refusal("patience", "500 us"), AllOf(HasSubstr("0 or >= 1 ms"), HasSubstr("500 us")));
  EXPECT_THAT(refusal("wait", "500 us"), AllOf(HasSubstr(">= 1 ms"), HasSubstr("500 us")));
}

TEST(OptionSet, SaysTheCeilingBeforeTheFloor) {  // BASE-003
  EXPECT_THAT(refusal("wait", "400000 d"), HasSubstr("about 292 years"));
}

TEST(OptionSet, SuggestsTheNearestName) {
  EXPECT_THAT(refusal("max-row", "1"),
              AllOf(HasSubstr("unknown option 'test.max-row'"), HasSubstr("'test.max-rows'")));
  EXPECT_EQ(refusal("qqqqqqqq", "1"), "unknown option 'test.qqqqqqqq'");
}

TEST(OptionSet, AnswersNotSupportedYetForWhatIsKnown) {
  Settings settings;
  EXPECT_EQ(set(settings, "flush-interval", "1 s").code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(set(settings, "color", "shiny-green").code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(refusal("color", "green"),
              HasSubstr("SHINY_GREEN is not supported yet (the README's status table"));
  EXPECT_THAT(refusal("flush-interval", "1 s"),
              HasSubstr("test.flush-interval is not supported yet"));
}

TEST(OptionSet, ChecksAStructThatBypassedTheParser) {  // BASE-005
  const OptionSet<Settings> set = makeSet();
  EXPECT_TRUE(set.check(Settings(), OptionSpelling::kBuilder).ok());
  Settings settings;
  settings.maxRows = 0;
  EXPECT_EQ(messageOf(set.check(settings, OptionSpelling::kBuilder)), "maxRows must be > 0: '0'");
  settings = {};
  settings.place = "";
  EXPECT_EQ(messageOf(set.check(settings, OptionSpelling::kFlag)), "--place must not be blank: ''");
  settings = {};
  settings.wait = 999us;
  EXPECT_THAT(std::string(messageOf(set.check(settings, OptionSpelling::kKey))),
              HasSubstr("test.wait must be >= 1 ms: '999 us'"));
}

TEST(OptionSet, DescribesItselfForTheReference) {
  const OptionSet<Settings> set = makeSet();
  const auto definitions = set.definitions();
  EXPECT_EQ(definitions[1].name(OptionSpelling::kBuilder), "bufferBytes");
  EXPECT_EQ(definitions[1].name(OptionSpelling::kFlag), "--buffer-bytes");
  EXPECT_EQ(definitions[1].typeText(), "byte size");
  EXPECT_EQ(definitions[1].defaultText(), "1 KiB");
  EXPECT_EQ(definitions[1].rulesText(), "> 0");
  EXPECT_EQ(definitions[2].defaultText(), "2.0");
  EXPECT_EQ(definitions[6].typeText(), "RED | DARK_BLUE");
  EXPECT_EQ(definitions[6].defaultText(), "RED");
  EXPECT_EQ(definitions[7].defaultText(), "unset");
  EXPECT_FALSE(definitions[10].supported);
}

}  // namespace
}  // namespace penstock::base
