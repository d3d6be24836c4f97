#include "penstock/runtime/files/block_masks.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define PENSTOCK_X86_BLOCKS 1
#include <immintrin.h>
#endif

namespace penstock::runtime {
namespace {

using Classifier = void (*)(const char*, size_t, BlockMasks*);

#ifdef PENSTOCK_X86_BLOCKS

// { and [ differ in one bit, as do } and ]: setting it makes one comparison of two.
constexpr char kFold = 0x20;

__attribute__((target("avx512bw"))) void classifyAvx512(const char* bytes, size_t count,
                                                        BlockMasks* masks) {
  for (size_t block = 0; block < count; ++block) {
    const __m512i piece = _mm512_loadu_si512(bytes + block * kBlockBytes);
    const __m512i folded = _mm512_or_si512(piece, _mm512_set1_epi8(kFold));
    const uint64_t close = _mm512_cmpeq_epi8_mask(folded, _mm512_set1_epi8('}'));
    const uint64_t lineEnd = _mm512_cmpeq_epi8_mask(piece, _mm512_set1_epi8('\n'));
    masks[block].quote = _mm512_cmpeq_epi8_mask(piece, _mm512_set1_epi8('"'));
    masks[block].backslash = _mm512_cmpeq_epi8_mask(piece, _mm512_set1_epi8('\\'));
    masks[block].bracket = close | _mm512_cmpeq_epi8_mask(folded, _mm512_set1_epi8('{'));
    masks[block].lineEnd = lineEnd;
    masks[block].afterString = close | lineEnd |
                               _mm512_cmpeq_epi8_mask(piece, _mm512_set1_epi8(' ')) |
                               _mm512_cmpeq_epi8_mask(piece, _mm512_set1_epi8('\t')) |
                               _mm512_cmpeq_epi8_mask(piece, _mm512_set1_epi8('\r')) |
                               _mm512_cmpeq_epi8_mask(piece, _mm512_set1_epi8(',')) |
                               _mm512_cmpeq_epi8_mask(piece, _mm512_set1_epi8(':'));
  }
}

__attribute__((target("avx2"))) inline __m256i matches(__m256i piece, char c) {
  return _mm256_cmpeq_epi8(piece, _mm256_set1_epi8(c));
}

__attribute__((target("avx2"))) inline uint64_t bits(__m256i piece) {
  return static_cast<uint32_t>(_mm256_movemask_epi8(piece));
}

__attribute__((target("avx2"))) void classifyAvx2(const char* bytes, size_t count,
                                                  BlockMasks* masks) {
  for (size_t block = 0; block < count; ++block) {
    BlockMasks result;
    for (int shift = 0; shift < 64; shift += 32) {
      const __m256i piece =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + block * kBlockBytes + shift));
      const __m256i folded = _mm256_or_si256(piece, _mm256_set1_epi8(kFold));
      const __m256i close = matches(folded, '}');
      const __m256i lineEnd = matches(piece, '\n');
      const __m256i blank =
          _mm256_or_si256(_mm256_or_si256(lineEnd, matches(piece, ' ')),
                          _mm256_or_si256(matches(piece, '\t'), matches(piece, '\r')));
      const __m256i separator = _mm256_or_si256(matches(piece, ','), matches(piece, ':'));
      result.quote |= bits(matches(piece, '"')) << shift;
      result.backslash |= bits(matches(piece, '\\')) << shift;
      result.bracket |= bits(_mm256_or_si256(close, matches(folded, '{'))) << shift;
      result.lineEnd |= bits(lineEnd) << shift;
      result.afterString |= bits(_mm256_or_si256(close, _mm256_or_si256(blank, separator)))
                            << shift;
    }
    masks[block] = result;
  }
}

#endif

Classifier fastestClassifier() {
#ifdef PENSTOCK_X86_BLOCKS
  if (__builtin_cpu_supports("avx512bw") != 0) return classifyAvx512;
  if (__builtin_cpu_supports("avx2") != 0) return classifyAvx2;
#endif
  return classifyBlocksPortably;
}

}  // namespace

void classifyBlocks(const char* bytes, size_t count, BlockMasks* masks) {
  static const Classifier kClassify = fastestClassifier();
  kClassify(bytes, count, masks);
}

void classifyBlocksPortably(const char* bytes, size_t count, BlockMasks* masks) {
  for (size_t block = 0; block < count; ++block) {
    BlockMasks result;
    for (size_t at = 0; at < kBlockBytes; ++at) {
      const uint64_t bit = uint64_t{1} << at;
      switch (bytes[block * kBlockBytes + at]) {
        case '"':
          result.quote |= bit;
          break;
        case '\\':
          result.backslash |= bit;
          break;
        case '{':
        case '[':
          result.bracket |= bit;
          break;
        case '}':
        case ']':
          result.bracket |= bit;
          result.afterString |= bit;
          break;
        case '\n':
          result.lineEnd |= bit;
          result.afterString |= bit;
          break;
        case ' ':
        case '\t':
        case '\r':
        case ',':
        case ':':
          result.afterString |= bit;
          break;
        default:
          break;
      }
    }
    masks[block] = result;
  }
}

}  // namespace penstock::runtime
