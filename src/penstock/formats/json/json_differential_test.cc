// Random documents, whole and with one byte changed: this walk and another library must agree on
// what is JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "penstock/base/random.h"
#include "penstock/formats/json/testing/json_validity.h"
#include "penstock/formats/json/testing/random_json.h"

namespace penstock::formats {
namespace {

/// What the other library thinks of a text; nothing if it stops at a number beyond the doubles.
std::optional<bool> isJsonElsewhere(const std::string& text) {
  try {
    return !nlohmann::json::parse(text).is_discarded();
  } catch (const nlohmann::json::out_of_range&) {
    return std::nullopt;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

// BQT-050
TEST(JsonDifferential, AgreesWithAnotherParserOnDocumentsWithOneByteChanged) {
  constexpr int kDocuments = 4000;
  constexpr int kMutationsOfEach = 8;
  std::vector<JsonValidity> validities;
  for (const std::string& name : StructuralIndex::implementations()) validities.emplace_back(name);
  const auto random = base::seededRandom(20261129);
  int valid = 0;
  int invalid = 0;
  for (int document = 0; document < kDocuments; ++document) {
    std::string text;
    appendRandomValue(*random, 4, &text);
    ASSERT_EQ(isJsonElsewhere(text), true) << text;
    for (JsonValidity& validity : validities) ASSERT_EQ(validity.whyInvalid(text), "") << text;
    for (int mutation = 0; mutation < kMutationsOfEach; ++mutation) {
      std::string mutated = text;
      mutateOneByte(*random, &mutated);
      const std::optional<bool> expected = isJsonElsewhere(mutated);
      if (!expected) continue;
      (*expected ? valid : invalid) += 1;
      for (JsonValidity& validity : validities) {
        const std::string why = validity.whyInvalid(mutated);
        // The one rule that RFC 8259 leaves open.
        if (*expected && why == "a key stands twice in one object") continue;
        ASSERT_EQ(why.empty(), expected) << mutated << "\n" << why;
      }
    }
  }
  // Both kinds were tried.
  EXPECT_GT(valid, kDocuments);
  EXPECT_GT(invalid, kDocuments);
}

}  // namespace
}  // namespace penstock::formats
