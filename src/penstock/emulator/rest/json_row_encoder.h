#pragma once

#include <google/protobuf/descriptor.pb.h>

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/random.h"
#include "penstock/base/status.h"
#include "penstock/emulator/catalog/schema.h"

namespace penstock::emulator {

class RowDecoder;

/// What is wrong with a row of tabledata.insertAll, as insertErrors tells it.
struct InsertError {
  std::string location;  ///< dotted path of the column; empty where the row as a whole is meant
  std::string message;
};

/// Makes rows as tabledata.insertAll takes them (JSON objects) into rows as appends bring them
/// (protobuf messages), by a descriptor that follows the table's columns, and judges them by the
/// same rules. One thread at a time.
class JsonRowEncoder {
 public:
  /// Columns that a row leaves out get their default values, as at `now`. `schema` and `random`
  /// outlive the encoder. kUnimplemented for a default that the emulator cannot work out.
  static absl::StatusOr<std::unique_ptr<JsonRowEncoder>> create(const Schema& schema,
                                                                base::WallTime now,
                                                                base::Random& random);
  ~JsonRowEncoder();
  JsonRowEncoder(const JsonRowEncoder&) = delete;
  JsonRowEncoder& operator=(const JsonRowEncoder&) = delete;

  /// How the encoded rows are read.
  [[nodiscard]] const google::protobuf::DescriptorProto& descriptor() const { return descriptor_; }

  /// Everything that is wrong with the row; nothing when it is fine, and `bytes` holds it.
  /// `ignoreUnknownValues` leaves out, at every level, what no column has a place for.
  [[nodiscard]] std::vector<InsertError> encode(const nlohmann::json& row, bool ignoreUnknownValues,
                                                std::string& bytes);

 private:
  struct Level;
  struct Column;
  class RowWriter;

  JsonRowEncoder(base::WallTime now, base::Random& random);
  static absl::Status readDefaults(Level& level);
  static std::unique_ptr<Level> addLevel(const std::vector<Field>& fields,
                                         google::protobuf::DescriptorProto& message);
  static void addField(const Field& field, google::protobuf::DescriptorProto& message,
                       Column& column);

  const base::WallTime now_;
  base::Random& random_;
  google::protobuf::DescriptorProto descriptor_;
  std::unique_ptr<Level> root_;
  std::unique_ptr<RowDecoder> decoder_;
};

}  // namespace penstock::emulator
