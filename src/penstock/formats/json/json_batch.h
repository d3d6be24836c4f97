#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "penstock/formats/json/json_cursor.h"
#include "penstock/formats/json/padded_text.h"
#include "penstock/formats/json/structural_index.h"

namespace penstock::formats {

/// Many documents of one buffer, indexed many at a time, which is faster than one by one. A run of
/// documents that cannot be indexed together is indexed document by document, so that a bad byte or
/// an open quote harms its own document only. Keeps its memory; one thread at a time.
class JsonBatch {
 public:
  /// Bytes indexed at a time: text and index stay in the processor's second-level cache.
  static constexpr size_t kBlockBytes = size_t{64} << 10;

  JsonBatch() = default;
  /// For tests: see StructuralIndex.
  explicit JsonBatch(std::string_view implementation)
      : index_(implementation), alone_(implementation) {}

  /// `documents` and the texts they show stay as they are until the next reset. They should lie in
  /// one buffer in this order, with whitespace or commas between them; where they do not, they are
  /// indexed one by one. Behind each of them `kJsonPadding` bytes are readable, of any content: the
  /// next documents, for instance.
  void reset(std::span<const std::string_view> documents);

  [[nodiscard]] size_t size() const { return documents_.size(); }
  [[nodiscard]] std::string_view text(size_t document) const { return documents_[document]; }

  /// A cursor at the first token of `document`, or why there is none. Fast when documents are asked
  /// for in order. Its index may go on behind the document: the document is a whole one only if the
  /// last token taken lies inside its text and the next one does not. Only if `isolated` has become
  /// true does the index hold this document alone. Valid until the next call.
  [[nodiscard]] IndexError locate(size_t document, JsonCursor* cursor, bool* isolated);

  /// The same with an index of this document alone: what a message is made from, once the walk has
  /// failed.
  [[nodiscard]] IndexError isolate(size_t document, JsonCursor* cursor);

  /// Tells where the walk of the last located document ended: the next one is then found without a
  /// search.
  void setHint(const JsonCursor& cursor) { hint_ = cursor.next; }

 private:
  void indexBlock(size_t document);

  StructuralIndex index_;
  StructuralIndex alone_;
  std::span<const std::string_view> documents_;
  size_t blockBegin_ = 0;  // documents of the current block; equal: none
  size_t blockEnd_ = 0;
  bool blockIndexed_ = false;
  JsonCursor block_;  // at the block's first token
  const uint32_t* hint_ = nullptr;
};

}  // namespace penstock::formats
