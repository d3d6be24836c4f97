#include "penstock/emulator/service/stream_name.h"

#include <array>

namespace penstock::emulator {

std::string tableResource(const TableReference& table) {
  return fmt::format("projects/{}/datasets/{}/tables/{}", table.project, table.dataset,
                     table.table);
}

absl::StatusOr<TableReference> parseTableResource(std::string_view text) {
  // A table's name is what stands in front of the short form of its default stream.
  absl::StatusOr<StreamName> stream = StreamName::parse(fmt::format("{}/_default", text));
  if (stream.ok()) return std::move(stream->table);
  return base::invalidArgument(
      "Invalid table name \"{}\": expected projects/PROJECT/datasets/DATASET/tables/TABLE", text);
}

absl::StatusOr<TableReference> tableIn(std::string_view resource) {
  size_t end = 0;
  for (int part = 0; part < 6 && end != std::string_view::npos; ++part) {
    end = resource.find('/', part == 0 ? 0 : end + 1);
  }
  return parseTableResource(resource.substr(0, end));
}

absl::Status maskedMissing(const TableReference& table, std::string_view permission) {
  return base::makeStatus(absl::StatusCode::kPermissionDenied,
                          "Permission '{}' denied on resource '{}' (or it may not exist).",
                          permission, tableResource(table));
}

std::string StreamName::tableResource() const { return emulator::tableResource(table); }

std::string StreamName::text() const { return tableResource() + "/streams/" + stream; }

absl::StatusOr<StreamName> StreamName::parse(std::string_view text) {
  std::array<std::string_view, 8> parts;
  size_t count = 0;
  for (std::string_view left = text; count < parts.size();) {
    const size_t slash = left.find('/');
    parts[count++] = left.substr(0, slash);
    if (slash == std::string_view::npos) {
      left = {};
      break;
    }
    left.remove_prefix(slash + 1);
    if (count == parts.size()) ++count;  // something stands behind the last part
  }
  const bool isLong = count == 8 && parts[6] == "streams" && !parts[7].empty();
  const bool isShort = count == 7 && parts[6] == "_default";
  const bool isTable = parts[0] == "projects" && parts[2] == "datasets" && parts[4] == "tables" &&
                       !parts[1].empty() && !parts[3].empty() && !parts[5].empty();
  if (!isTable || (!isLong && !isShort)) {
    return base::invalidArgument(
        "Invalid stream name \"{}\": expected projects/PROJECT/datasets/DATASET/tables/TABLE/"
        "streams/STREAM",
        text);
  }
  return StreamName{{std::string(parts[1]), std::string(parts[3]), std::string(parts[5])},
                    std::string(isLong ? parts[7] : parts[6])};
}

}  // namespace penstock::emulator
