#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"
#include "penstock/base/random.h"
#include "penstock/base/status.h"

namespace penstock::emulator {

/// What a fault rule makes of a call that it strikes.
enum class FaultAction {
  kFail,       ///< answered with the rule's code instead of being applied
  kDelay,      ///< applied and answered, but only after the rule's delay
  kCutBefore,  ///< the TCP connection is shut down, with all its calls; nothing was applied
  kCutAfter,   ///< applied, then the TCP connection is shut down, with all its calls
  kHang,       ///< never answered and not applied; the connection stays open
  kHideTable,  ///< answered as if the table were not there
  kOldSchema,  ///< AppendRows, GetWriteStream: served by the schema before the table's last change
  kQuota,      ///< calls over a quota are refused, in the service's words
};

/// How old a table is, and its schema.
struct TableAge {
  std::chrono::milliseconds created{0};  ///< since it was made
  /// Since its schema was changed; nothing when it never was, as far as is known.
  std::optional<std::chrono::milliseconds> changed;
};

/// One rule: which calls it looks at, which of those it strikes, and what becomes of them.
struct FaultRule {
  /// The call: a method of the gRPC services ("AppendRows", "GetWriteStream"; one AppendRows call
  /// is counted per append) or of the REST face ("tables.get", "tables.insert", "tabledata.list",
  /// ...).
  /// "*" = every method.
  std::string method = "*";
  /// Part of the resource's name ("projects/P/datasets/D/tables/T", for a stream with its
  /// "/streams/..."); empty = every resource.
  std::string resource;

  /// Strikes from the nth matching call on (from 1) ...
  uint64_t nth = 1;
  /// ... and as many calls in all; 0 = every one.
  uint64_t times = 1;
  /// Each of them with this probability, drawn from a generator seeded with `seed`.
  double probability = 1.0;
  uint64_t seed = 1;

  FaultAction action = FaultAction::kFail;
  /// kHideTable: only calls on a table that was made less than this ago; kOldSchema: on one whose
  /// schema was changed less than this ago. 0 = whenever that was.
  std::chrono::milliseconds within{0};
  /// kQuota: so many calls, and of AppendRows so many bytes of requests, pass in each `quotaPer`; 0
  /// = no such limit. Counted over all matching calls, or for each resource by itself.
  uint64_t quotaCalls = 0;
  uint64_t quotaBytes = 0;
  std::chrono::milliseconds quotaPer{1000};
  bool quotaPerResource = false;
  /// Waited before any action (for kDelay the whole of it).
  std::chrono::milliseconds delay{0};

  /// gRPC: the code of the failure. For "AppendRows" the answer is an error in the append's
  /// response, or with `endCall` the status that ends the call.
  absl::StatusCode code = absl::StatusCode::kUnavailable;
  bool endCall = false;
  /// gRPC: name of a StorageError code to attach ("STREAM_NOT_FOUND"); empty = none.
  std::string storageError;
  /// REST: the HTTP code and the `reason` of the error.
  int httpCode = 503;
  std::string reason = "backendError";
  std::string message = "fault rule";
};

/// What the struck call has to do; the delay comes first.
struct Fault {
  uint64_t ruleId = 0;
  /// As it was added, but for actions that come down to others: kHideTable and kQuota are kFail
  /// with the service's code and words here, kOldSchema is kDelay.
  FaultRule rule;
  bool tableIsHidden = false;  ///< kHideTable
  bool oldSchema = false;      ///< kOldSchema
};

/// The rules in force, asked once per call by both faces of the emulator. Thread-safe.
class FaultRules {
 public:
  /// `clock` outlives the rules; quotas are counted by it.
  explicit FaultRules(const base::Clock& clock = base::systemClock());
  ~FaultRules();

  /// How the age of the table in a resource's name is found, for rules with `within`; without it
  /// they strike nothing. Set once, before the first call.
  using TableAges = std::function<std::optional<TableAge>(std::string_view resource)>;
  void setTableAges(TableAges tableAges) { tableAges_ = std::move(tableAges); }

  /// Adds a rule and returns its id. kInvalidArgument names the field that is out of range.
  absl::StatusOr<uint64_t> add(const FaultRule& rule);
  /// False when there is no such rule.
  bool remove(uint64_t id);
  void clear();

  /// Counts this call and says which rule strikes it, if any; the first of several in the order of
  /// their ids. Cheap without rules.
  /// `bytes`: of the request, for AppendRows.
  std::optional<Fault> next(std::string_view method, std::string_view resource, size_t bytes = 0);

  /// How many calls a rule has struck so far; 0 when there is no such rule.
  [[nodiscard]] uint64_t struck(uint64_t id) const;

  /// The admin endpoint `/penstock/faults`, with JSON bodies whose keys are the fields of FaultRule
  /// in lowerCamelCase (`action`: "fail", "delay", "cutBefore", "cutAfter", "hang", "hideTable",
  /// "oldSchema", "quota"; `delayMs`, `withinMs`, `quotaPerMs`; `code` by its gRPC name): POST adds
  /// one rule and answers {"id": N}, GET lists them with `matched` and `struck`, DELETE removes the
  /// one of `?id=N`, or all.
  struct AdminAnswer {
    int httpCode = 200;
    std::string body;  ///< JSON
  };
  AdminAnswer handleAdmin(std::string_view httpMethod, std::string_view idParameter,
                          std::string_view body);

 private:
  struct Entry;
  [[nodiscard]] bool isYoungEnough(const FaultRule& rule, std::string_view resource) const;
  bool exceedsQuota(Entry& entry, std::string_view resource, size_t bytes) const;

  const base::Clock& clock_;
  TableAges tableAges_;
  mutable base::Mutex mutex_;
  std::map<uint64_t, std::unique_ptr<Entry>> rules_ PENSTOCK_GUARDED_BY(mutex_);
  uint64_t nextId_ PENSTOCK_GUARDED_BY(mutex_) = 1;
};

}  // namespace penstock::emulator
