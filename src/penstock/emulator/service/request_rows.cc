#include "penstock/emulator/service/request_rows.h"

#include "penstock/emulator/rows/wire_reader.h"

namespace penstock::emulator {
namespace {

namespace api = google::cloud::bigquery::storage::v1;

// An answer stays below gRPC's default limit for received messages (4 MiB): past the first bound,
// rows are listed without a message, past the second not at all.
constexpr size_t kMaxMessageBytes = 2 << 20;
constexpr size_t kMaxErrorBytes = 7 << 19;
constexpr size_t kBytesOfAnEntry = 12;

absl::Status cutShort(ptrdiff_t offset) {
  return base::invalidArgument("The rows of the request cannot be parsed: byte {} begins none.",
                               offset);
}

}  // namespace

absl::Status RequestRows::judge(std::span<const std::string_view> pieces, RowValidator& validator,
                                const DefaultFiller* filler, base::WallTime now,
                                base::Random& random, Errors& errors) {
  pieces_ = pieces;
  rowCount_ = 0;
  rowBytes_ = 0;
  badRows_ = 0;
  errorBytes_ = 0;
  asArrived_ = filler == nullptr;
  framer_.reset();
  filler_ = filler;
  now_ = now;
  random_ = &random;
  if (filler != nullptr) framer_.emplace();
  for (const std::string_view piece : pieces) {
    PENSTOCK_RETURN_IF_ERROR(judgePiece(piece, validator, errors));
  }
  return absl::OkStatus();
}

absl::Status RequestRows::judgePiece(std::string_view piece, RowValidator& validator,
                                     Errors& errors) {
  // What RowStore reads back: tag 0x0A, a length of at most five bytes.
  constexpr size_t kMaxFrameBytes = 6;
  constexpr char kRowTag = 0x0A;
  const char* const start = piece.data();
  WireReader reader(piece);
  while (!reader.atEnd()) {
    const char* const frame = reader.position();
    uint32_t number = 0;
    uint32_t wireType = 0;
    std::string_view row;
    if (!reader.readTag(number, wireType)) return cutShort(frame - start);
    if (number != 1 || wireType != WireReader::kLength) {
      asArrived_ = false;
      if (!reader.skip(number, wireType)) return cutShort(frame - start);
      continue;
    }
    if (!reader.readBytes(row)) return cutShort(frame - start);
    if (*frame != kRowTag || static_cast<size_t>(row.data() - frame) > kMaxFrameBytes) {
      asArrived_ = false;
    }
    judgeRow(row, validator, errors);
  }
  return absl::OkStatus();
}

void RequestRows::judgeRow(std::string_view row, RowValidator& validator, Errors& errors) {
  if (filler_ != nullptr) {
    filler_->fill(row, now_, *random_, filled_);
    framer_->add(filled_);
    row = filled_;
  }
  if (const std::optional<std::string> problem = validator.check(row)) addError(*problem, errors);
  ++rowCount_;
  rowBytes_ += row.size();
}

void RequestRows::addError(std::string_view problem, Errors& errors) {
  ++badRows_;
  if (errorBytes_ >= kMaxErrorBytes) return;
  api::RowError& error = *errors.Add();
  error.set_index(static_cast<int64_t>(rowCount_));
  error.set_code(api::RowError::FIELDS_ERROR);
  errorBytes_ += kBytesOfAnEntry;
  if (errorBytes_ < kMaxMessageBytes) {
    error.set_message(std::string(problem));
    errorBytes_ += problem.size();
  }
}

FramedRows RequestRows::framed() {
  if (asArrived_) return {pieces_, rowCount_, rowBytes_};
  if (!framer_.has_value()) reframe();
  return framer_->rows();
}

void RequestRows::reframe() {
  framer_.emplace();
  for (const std::string_view piece : pieces_) {
    WireReader reader(piece);
    uint32_t number = 0;
    uint32_t wireType = 0;
    std::string_view row;
    while (!reader.atEnd() && reader.readTag(number, wireType)) {
      if (number != 1 || wireType != WireReader::kLength) {
        if (!reader.skip(number, wireType)) return;
      } else if (reader.readBytes(row)) {
        framer_->add(row);
      }
    }
  }
}

}  // namespace penstock::emulator
