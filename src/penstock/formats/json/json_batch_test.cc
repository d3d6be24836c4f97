#include "penstock/formats/json/json_batch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "penstock/base/random.h"
#include "penstock/formats/json/testing/json_validity.h"
#include "penstock/formats/json/testing/random_json.h"
#include "penstock/formats/json/value_checker.h"

namespace penstock::formats {
namespace {

/// Documents in one buffer with something between them, and as much padding behind as is promised.
class Buffer {
 public:
  Buffer(const std::vector<std::string>& documents, std::string_view separator) {
    std::vector<size_t> begins;
    for (const std::string& document : documents) {
      begins.push_back(bytes_.size());
      bytes_ += document;
      bytes_ += separator;
    }
    bytes_.append(kJsonPadding, '"');
    bytes_.shrink_to_fit();
    for (size_t index = 0; index < documents.size(); ++index) {
      documents_.push_back(std::string_view(bytes_).substr(begins[index], documents[index].size()));
    }
  }

  [[nodiscard]] const std::vector<std::string_view>& documents() const { return documents_; }

 private:
  std::string bytes_;
  std::vector<std::string_view> documents_;
};

/// Walks one document of a batch like a serializer does, and alone if that fails.
std::string whyInvalid(JsonBatch& batch, ValueChecker& checker, size_t document, bool* isolated) {
  const std::string_view text = batch.text(document);
  const char* const end = text.data() + text.size();
  JsonFault fault;
  JsonCursor cursor;
  IndexError error = batch.locate(document, &cursor, isolated);
  if (error == IndexError::kNone && checker.check(&cursor, 0, &fault) &&
      cursor.text + cursor.next[-1] < end && cursor.at() >= end) {
    if (!*isolated) batch.setHint(cursor);
    return "";
  }
  error = batch.isolate(document, &cursor);
  if (error != IndexError::kNone) return std::string(describe(error));
  if (!checker.check(&cursor, 0, &fault)) return fault.reason;
  return cursor.exhausted() ? "" : "more than one value";
}

TEST(JsonBatch, IndexesManyDocumentsAtOnceAndFindsEach) {
  std::vector<std::string> texts;
  texts.reserve(5000);
  for (int index = 0; index < 5000; ++index) {
    texts.push_back(fmt::format("{{\"index\":{},\"text\":\"number {}\"}}", index, index));
  }
  for (const std::string_view separator : {"\n", "\r\n", ",\n  ", ",", "\n\n\n", ""}) {
    const Buffer buffer(texts, separator);
    JsonBatch batch;
    ValueChecker checker;
    batch.reset(buffer.documents());
    size_t alone = 0;
    for (size_t document = 0; document < texts.size(); ++document) {
      bool isolated = false;
      ASSERT_EQ(whyInvalid(batch, checker, document, &isolated), "") << document;
      alone += isolated ? 1 : 0;
    }
    EXPECT_LE(alone, 1u);  // the last one may be a block of its own
  }
}

TEST(JsonBatch, FindsDocumentsInAnyOrder) {
  std::vector<std::string> texts;
  texts.reserve(300);
  for (int index = 0; index < 300; ++index) {
    texts.push_back(fmt::format("{{\"{}\":[{}]}}", index, index * 7));
  }
  const Buffer buffer(texts, "\n");
  JsonBatch batch;
  ValueChecker checker;
  batch.reset(buffer.documents());
  const auto random = base::seededRandom(1);
  for (int attempt = 0; attempt < 3000; ++attempt) {
    const size_t document = random->below(texts.size());
    JsonCursor cursor;
    bool isolated = false;
    ASSERT_EQ(batch.locate(document, &cursor, &isolated), IndexError::kNone);
    ASSERT_EQ(cursor.at(), buffer.documents()[document].data());
  }
}

// BQT-050: a bad byte, an open quote or a missing bracket fails its own line and no other.
TEST(JsonBatch, ABadDocumentHarmsNoOther) {
  for (const std::string_view bad :
       {"{\"a\":\"open}", "{\"a\":\"\xFF\"}", "{\"a\":1", "{\"a\":[1,2", "}", "{\"a\":\"\\\"}",
        "{\"a\":\"\x01\"}", "\"", "\\", "{\"a\":1}{", "[", "{", "{\"a\":", "{\"a\"", "", " ",
        ","}) {
    const std::string good = "{\"a\":\"fine\"}";
    const std::vector<std::string> texts = {good, good, std::string(bad), good, good};
    const Buffer buffer(texts, "\n");
    JsonBatch batch;
    ValueChecker checker;
    batch.reset(buffer.documents());
    for (size_t document = 0; document < texts.size(); ++document) {
      bool isolated = false;
      EXPECT_EQ(whyInvalid(batch, checker, document, &isolated).empty(), document != 2)
          << bad << ", document " << document;
    }
  }
}

TEST(JsonBatch, TakesDocumentsOfSeveralBuffersAndLongOnes) {
  const std::string first = "{\"a\":1}" + std::string(kJsonPadding, ']');
  const std::string second = "{\"b\":2}" + std::string(kJsonPadding, '}');
  const std::string longText = "[\"" + std::string(3 * JsonBatch::kBlockBytes, 'x') + "\"]";
  const std::string third = longText + std::string(kJsonPadding, '"');
  const std::vector<std::string_view> documents = {
      std::string_view(second).substr(0, 7), std::string_view(first).substr(0, 7),
      std::string_view(third).substr(0, longText.size()), std::string_view(second).substr(0, 7)};
  JsonBatch batch;
  ValueChecker checker;
  batch.reset(documents);
  for (size_t document = 0; document < documents.size(); ++document) {
    bool isolated = false;
    EXPECT_EQ(whyInvalid(batch, checker, document, &isolated), "");
  }
}

TEST(JsonBatch, AgreesWithDocumentsTakenAlone) {
  const auto random = base::seededRandom(7);
  for (const std::string& implementation : StructuralIndex::implementations()) {
    JsonBatch batch(implementation);
    JsonValidity validity(implementation);
    ValueChecker checker;
    for (int round = 0; round < 60; ++round) {
      std::vector<std::string> texts;
      for (int document = 0; document < 40; ++document) {
        std::string& text = texts.emplace_back();
        appendRandomObject(*random, 3, &text);
        if (random->chance(0.1)) mutateOneByte(*random, &text);
      }
      const Buffer buffer(texts, round % 2 == 0 ? "\n" : ",");
      batch.reset(buffer.documents());
      for (size_t document = 0; document < texts.size(); ++document) {
        bool isolated = false;
        ASSERT_EQ(whyInvalid(batch, checker, document, &isolated),
                  validity.whyInvalid(texts[document]))
            << texts[document];
      }
    }
  }
}

}  // namespace
}  // namespace penstock::formats
