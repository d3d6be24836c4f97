#include "penstock/formats/json/json_batch.h"

#include <algorithm>

namespace penstock::formats {
namespace {

uintptr_t address(const char* place) { return reinterpret_cast<uintptr_t>(place); }

}  // namespace

void JsonBatch::reset(std::span<const std::string_view> documents) {
  documents_ = documents;
  blockBegin_ = 0;
  blockEnd_ = 0;
}

IndexError JsonBatch::locate(size_t document, JsonCursor* cursor, bool* isolated) {
  if (document < blockBegin_ || document >= blockEnd_) indexBlock(document);
  *isolated = !blockIndexed_;
  if (!blockIndexed_) return isolate(document, cursor);
  *cursor = block_;
  const auto begin = static_cast<uint32_t>(documents_[document].data() - block_.text);
  const uint32_t* place = hint_;
  // Behind the document before there is at most the comma of an array.
  if (place < block_.end && *place < begin) ++place;
  if (*place < begin || (place > block_.next && place[-1] >= begin)) {
    place = std::lower_bound(block_.next, block_.end, begin);
  }
  cursor->next = place;
  hint_ = place;
  const bool isBlank = place == block_.end || *place - begin >= documents_[document].size();
  return isBlank ? IndexError::kEmpty : IndexError::kNone;
}

IndexError JsonBatch::isolate(size_t document, JsonCursor* cursor) {
  const std::string_view text = documents_[document];
  const IndexError error = alone_.build(PaddedText::assumePadded(text));
  const auto tokens = alone_.tokens();
  *cursor = {text.data(), tokens.data(), tokens.data() + tokens.size()};
  return error;
}

void JsonBatch::indexBlock(size_t document) {
  const char* const begin = documents_[document].data();
  const char* end = begin + documents_[document].size();
  size_t next = document + 1;
  while (next < documents_.size()) {
    const std::string_view candidate = documents_[next];
    const char* candidateEnd = candidate.data() + candidate.size();
    // As numbers, since the documents may lie in several buffers. What lies between two documents
    // is read too: it must belong to the padding of the first.
    const bool isNear = address(candidate.data()) >= address(end) &&
                        address(candidate.data()) - address(end) <= kJsonPadding;
    if (!isNear || address(candidateEnd) - address(begin) > kBlockBytes) break;
    end = candidateEnd;
    ++next;
  }
  blockBegin_ = document;
  blockEnd_ = next;
  const std::string_view text(begin, static_cast<size_t>(end - begin));
  blockIndexed_ =
      next - document > 1 && index_.build(PaddedText::assumePadded(text)) == IndexError::kNone;
  const auto tokens = index_.tokens();
  block_ = {begin, tokens.data(), tokens.data() + tokens.size()};
  hint_ = block_.next;
}

}  // namespace penstock::formats
