#pragma once

#include <fmt/format.h>

#include <string>

namespace penstock::simulation {

/// One record of the input: a table and a text that says what it is.
struct Record {
  int table = 0;
  std::string text;  // "good7@t1#0", "bad9@t0#3", "unserializable4@t2#1"
  bool serializable = true;

  /// Belongs in its table; all others do not.
  [[nodiscard]] bool isGood() const { return text.rfind("good", 0) == 0; }
  /// Leaves no trace.
  [[nodiscard]] bool isSkipped() const { return text.rfind("skipped", 0) == 0; }
};

inline std::string tableName(int table) { return fmt::format("t{}", table); }

inline std::string resourceOf(int table) {
  return fmt::format("projects/p/datasets/d/tables/t{}", table);
}

}  // namespace penstock::simulation
