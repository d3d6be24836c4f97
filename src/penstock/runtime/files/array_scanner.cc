#include "penstock/runtime/files/array_scanner.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "penstock/runtime/files/content_kind.h"

namespace penstock::runtime {
namespace {

constexpr std::string_view kOpenString =
    "the line ends inside a string: the element's end cannot be told";

std::string show(char c) { return fmt::format("\"{}\"", printable(std::string_view(&c, 1), 8)); }

}  // namespace

absl::Status ArrayScanner::broken(uint64_t where, std::string_view message) {
  errorAt_ = where;
  return absl::Status(absl::StatusCode::kInvalidArgument, {message.data(), message.size()});
}

absl::Status ArrayScanner::endedEarly() {
  if (state_ == State::kBegin) return broken(at_, "expected [ , found the end of the file");
  if (inElement()) {
    return broken(elementBegin_, "the file ends inside the element that begins here");
  }
  return broken(at_, "the file ends before the array is closed with ]");
}

absl::StatusOr<ArrayScanner::Step> ArrayScanner::next(const char* data, uint64_t dataOffset,
                                                      size_t size, bool last) {
  const uint64_t end = dataOffset + size;
  while (true) {
    bool complete = false;
    switch (state_) {
      case State::kContainer: {
        PENSTOCK_ASSIGN_OR_RETURN(complete, scanContainer(data, dataOffset, size));
        break;
      }
      case State::kString: {
        PENSTOCK_ASSIGN_OR_RETURN(complete, scanString(data, dataOffset, size));
        break;
      }
      case State::kLiteral: {
        PENSTOCK_ASSIGN_OR_RETURN(complete, scanLiteral(data, dataOffset, size));
        break;
      }
      default: {
        while (at_ < end && isBlank(data[at_ - dataOffset])) ++at_;
        if (at_ == end) {
          if (!last) return Step::kNeedMore;
          if (state_ == State::kAfterEnd) return Step::kEnd;
          return endedEarly();
        }
        PENSTOCK_RETURN_IF_ERROR(betweenElements(data[at_ - dataOffset]));
        continue;
      }
    }
    if (complete) {
      state_ = State::kSeparator;
      return Step::kElement;
    }
    if (!last) return Step::kNeedMore;
    return endedEarly();
  }
}

absl::Status ArrayScanner::betweenElements(char c) {
  switch (state_) {
    case State::kBegin:
      if (c != '[') return broken(at_, fmt::format("expected [ , found {}", show(c)));
      state_ = State::kFirstOrEnd;
      break;
    case State::kFirstOrEnd:
      if (c == ']') {
        state_ = State::kAfterEnd;
        break;
      }
      return beginElement(c);
    case State::kElement:
      return beginElement(c);
    case State::kSeparator:
      if (c == ',') {
        state_ = State::kElement;
      } else if (c == ']') {
        state_ = State::kAfterEnd;
      } else {
        return broken(at_, fmt::format("expected , or ] after an element, found {}", show(c)));
      }
      break;
    default:
      return broken(at_, fmt::format("expected nothing after the array's end, found {}", show(c)));
  }
  ++at_;
  return absl::OkStatus();
}

absl::Status ArrayScanner::beginElement(char c) {
  if (c == ',' || c == ']' || c == '}' || c == ':') {
    return broken(at_, fmt::format("expected an element, found {}", show(c)));
  }
  elementBegin_ = at_;
  inString_ = false;
  escaped_ = false;
  stringEnded_ = false;
  nesting_.depth = 0;
  if (c == '{' || c == '[') {
    state_ = State::kContainer;
  } else if (c == '"') {
    state_ = State::kString;
    ++at_;
  } else {
    state_ = State::kLiteral;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ArrayScanner::scanString(const char* data, uint64_t dataOffset, size_t size) {
  const uint64_t end = dataOffset + size;
  while (at_ < end) {
    const char c = data[at_ - dataOffset];
    if (c == '\n') return broken(at_, kOpenString);
    ++at_;
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      return true;
    }
  }
  return false;
}

absl::StatusOr<bool> ArrayScanner::scanLiteral(const char* data, uint64_t dataOffset, size_t size) {
  const uint64_t end = dataOffset + size;
  for (; at_ < end; ++at_) {
    const char c = data[at_ - dataOffset];
    if (isBlank(c) || c == ',' || c == ']') return true;
    if (c == '"' || c == '{' || c == '[' || c == '}' || c == ':') {
      return broken(at_, fmt::format("{} within a number or word: the element's end cannot be told",
                                     show(c)));
    }
  }
  return false;
}

absl::StatusOr<bool> ArrayScanner::followBrackets(const char* data, uint64_t dataOffset,
                                                  uint64_t blockBegin, uint64_t brackets) {
  while (brackets != 0) {
    const int position = std::countr_zero(brackets);
    brackets &= brackets - 1;
    const uint64_t where = blockBegin + static_cast<uint64_t>(position);
    const char c = data[where - dataOffset];  // the block may begin before the data
    const bool brace = (c & 0x20) != 0;       // { } have the bit, [ ] do not
    if (c == '{' || c == '[') {
      if (nesting_.depth == kMaxDepth) {
        return broken(where, fmt::format("brackets are nested more than {} deep", kMaxDepth));
      }
      const uint64_t bit = uint64_t{1} << (nesting_.depth % 64);
      uint64_t& word = nesting_.openBraces[nesting_.depth / 64];
      word = brace ? word | bit : word & ~bit;
      ++nesting_.depth;
      continue;
    }
    --nesting_.depth;
    const bool openedByBrace =
        ((nesting_.openBraces[nesting_.depth / 64] >> (nesting_.depth % 64)) & 1U) != 0;
    if (openedByBrace != brace) {
      return broken(where, fmt::format("{} closes what {} opened: the element's end cannot be told",
                                       c, openedByBrace ? '{' : '['));
    }
    if (nesting_.depth == 0) {
      at_ = where + 1;
      return true;
    }
  }
  return false;
}

const BlockMasks& ArrayScanner::masksAt(const char* data, uint64_t dataOffset, uint64_t end) {
  if (at_ < masksBegin_ || at_ >= masksBegin_ + maskBlocks_ * kBlockBytes) {
    // Whole blocks, several at a time; a last one that is not whole is not kept.
    const size_t whole = static_cast<size_t>((end - at_) / kBlockBytes);
    masksBegin_ = at_;
    maskBlocks_ = std::min(whole, masks_.size());
    classifyBlocks(data + (at_ - dataOffset), std::max<size_t>(maskBlocks_, 1), masks_.data());
    return masks_[0];
  }
  return masks_[static_cast<size_t>(at_ - masksBegin_) / kBlockBytes];
}

absl::StatusOr<bool> ArrayScanner::scanContainer(const char* data, uint64_t dataOffset,
                                                 size_t size) {
  const uint64_t end = dataOffset + size;
  while (at_ < end) {
    const BlockMasks& masks = masksAt(data, dataOffset, end);
    // Only an element's first block is entered in its middle, and then nothing is carried into it.
    const uint64_t offsetInBlock = (at_ - masksBegin_) % kBlockBytes;
    const uint64_t blockBegin = at_ - offsetInBlock;
    const uint64_t there = end - blockBegin;
    const bool whole = there >= kBlockBytes;
    const uint64_t valid =
        (whole ? ~uint64_t{0} : (uint64_t{1} << there) - 1) & (~uint64_t{0} << offsetInBlock);

    bool escaped = escaped_;
    const uint64_t quotes = masks.quote & ~escapedBytes(masks.backslash & valid, escaped) & valid;
    // From each opening quote up to, not including, its closing one.
    const uint64_t inside = prefixXor(quotes) ^ (inString_ ? ~uint64_t{0} : 0);
    const uint64_t closing = quotes & ~inside;
    const uint64_t behindString = ((closing << 1) | (stringEnded_ ? 1 : 0)) & valid;
    const uint64_t badLineEnd = masks.lineEnd & inside & valid;
    const uint64_t bad = (behindString & ~masks.afterString) | badLineEnd;
    // What is wrong behind the element's end is not wrong: look only as far as that.
    const uint64_t beforeBad = bad == 0 ? ~uint64_t{0} : (bad & (~bad + 1)) - 1;
    const uint64_t brackets = masks.bracket & ~inside & valid & beforeBad;

    if (!whole) nestingBefore_ = nesting_;
    PENSTOCK_ASSIGN_OR_RETURN(const bool complete,
                              followBrackets(data, dataOffset, blockBegin, brackets));
    if (complete) return true;
    if (bad != 0) {
      const int position = std::countr_zero(bad);
      const uint64_t where = blockBegin + static_cast<uint64_t>(position);
      if (((badLineEnd >> position) & 1U) != 0) return broken(where, kOpenString);
      return broken(where,
                    fmt::format("{} directly behind a string: the element's end cannot be told",
                                show(data[where - dataOffset])));
    }
    if (!whole) {
      // A part of a block leaves no trace: it is looked at again when there is more.
      nesting_ = nestingBefore_;
      return false;
    }
    inString_ = (inside >> 63) != 0;
    escaped_ = escaped;
    stringEnded_ = (closing >> 63) != 0;
    at_ = blockBegin + kBlockBytes;
  }
  return false;
}

}  // namespace penstock::runtime
