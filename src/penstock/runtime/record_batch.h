#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::runtime {

/// Readable bytes (of any content) behind every record a source hands out, for vectorised parsers.
inline constexpr size_t kRecordPadding = 64;

struct RecordBatch;

/// Says where a record stands in the input. Only asked when something is wrong with it, so it may
/// be slow.
class RecordOrigins {
 public:
  virtual ~RecordOrigins() = default;
  /// "flights.json line 17", "flights.json element 17 (line 18)".
  [[nodiscard]] virtual std::string describe(const RecordBatch& batch, size_t index) const = 0;
  /// The same of any record of a batch (by index), for when batch and reader are gone: valid while
  /// the source lives. Asked for every batch, so it must not cost much to make.
  [[nodiscard]] virtual std::function<std::string(size_t)> describeLater(
      const RecordBatch& batch) const = 0;
};

/// A run of whole records in one buffer of the reader that filled it, valid until the next call to
/// that reader.
struct RecordBatch {
  /// The records, uninterpreted, in the order of their places in the buffer: only blanks or commas
  /// (of protobuf messages: lengths) stand between them. `kRecordPadding` readable bytes follow
  /// each.
  std::vector<std::string_view> records;
  /// Empty: all records are whole. Otherwise the batch holds one record, its first bytes only, and
  /// this says why the source cannot deliver it ("the line is 20971520 bytes long, at most 10485760
  /// are taken"): a record failure, for the failure handler to decide about.
  std::string defect;
  /// Bytes of input (uncompressed) this batch stands for, blank lines and separators included.
  uint64_t inputBytes = 0;
  const RecordOrigins* origins = nullptr;

  /// Where record `index` stands in the input; empty when the source does not say. Slow: for errors
  /// only.
  [[nodiscard]] std::string origin(size_t index) const {
    return origins == nullptr ? std::string() : origins->describe(*this, index);
  }
  /// See RecordOrigins::describeLater; empty when the source does not say.
  [[nodiscard]] std::function<std::string(size_t)> laterOrigins() const {
    return origins == nullptr ? nullptr : origins->describeLater(*this);
  }
};

}  // namespace penstock::runtime
