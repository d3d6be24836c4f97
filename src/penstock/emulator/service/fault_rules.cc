#include "penstock/emulator/service/fault_rules.h"

#include <google/cloud/bigquery/storage/v1/storage.pb.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "penstock/emulator/json_dump.h"
#include "penstock/emulator/service/stream_name.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;
using StorageError = google::cloud::bigquery::storage::v1::StorageError;

struct ActionName {
  FaultAction action;
  std::string_view name;
};
constexpr std::array<ActionName, 8> kActions{{{FaultAction::kFail, "fail"},
                                              {FaultAction::kDelay, "delay"},
                                              {FaultAction::kCutBefore, "cutBefore"},
                                              {FaultAction::kCutAfter, "cutAfter"},
                                              {FaultAction::kHang, "hang"},
                                              {FaultAction::kHideTable, "hideTable"},
                                              {FaultAction::kOldSchema, "oldSchema"},
                                              {FaultAction::kQuota, "quota"}}};

constexpr std::array<std::string_view, 19> kKeys{
    "method",           "resource", "nth",      "times",        "probability", "seed",
    "action",           "delayMs",  "withinMs", "quotaCalls",   "quotaBytes",  "quotaPerMs",
    "quotaPerResource", "code",     "endCall",  "storageError", "httpCode",    "reason",
    "message"};

/// What calls are counted by, over both faces; those that are not supported yet can fail, too.
constexpr std::array<std::string_view, 48> kMethods{"AppendRows",
                                                    "CreateWriteStream",
                                                    "GetWriteStream",
                                                    "FlushRows",
                                                    "FinalizeWriteStream",
                                                    "BatchCommitWriteStreams",
                                                    "projects.list",
                                                    "projects.getServiceAccount",
                                                    "datasets.list",
                                                    "datasets.insert",
                                                    "datasets.get",
                                                    "datasets.patch",
                                                    "datasets.update",
                                                    "datasets.delete",
                                                    "datasets.undelete",
                                                    "tables.list",
                                                    "tables.insert",
                                                    "tables.get",
                                                    "tables.patch",
                                                    "tables.update",
                                                    "tables.delete",
                                                    "tables.getIamPolicy",
                                                    "tables.setIamPolicy",
                                                    "tables.testIamPermissions",
                                                    "tabledata.list",
                                                    "tabledata.insertAll",
                                                    "rowAccessPolicies.list",
                                                    "rowAccessPolicies.insert",
                                                    "rowAccessPolicies.get",
                                                    "rowAccessPolicies.update",
                                                    "rowAccessPolicies.delete",
                                                    "models.list",
                                                    "models.get",
                                                    "models.patch",
                                                    "models.delete",
                                                    "routines.list",
                                                    "routines.insert",
                                                    "routines.get",
                                                    "routines.update",
                                                    "routines.delete",
                                                    "jobs.list",
                                                    "jobs.insert",
                                                    "jobs.get",
                                                    "jobs.cancel",
                                                    "jobs.delete",
                                                    "jobs.query",
                                                    "jobs.getQueryResults",
                                                    "discovery"};

absl::Status checkMethod(const std::string& method) {
  if (method == "*") return absl::OkStatus();
  if (std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end()) {
    return absl::OkStatus();
  }
  return base::invalidArgument("method: no call is named '{}'; it is one of {}, or * for all",
                               method, fmt::join(kMethods, ", "));
}

std::string_view nameOf(FaultAction action) {
  for (const ActionName& known : kActions) {
    if (known.action == action) return known.name;
  }
  return "";
}

absl::Status check(const FaultRule& rule) {
  PENSTOCK_RETURN_IF_ERROR(checkMethod(rule.method));
  if (rule.nth == 0) return base::invalidArgument("nth counts from 1");
  if (!(rule.probability >= 0 && rule.probability <= 1)) {
    return base::invalidArgument("probability must be between 0 and 1");
  }
  if (rule.delay < std::chrono::milliseconds::zero()) {
    return base::invalidArgument("delayMs must not be negative");
  }
  if (rule.within < std::chrono::milliseconds::zero()) {
    return base::invalidArgument("withinMs must not be negative");
  }
  if (rule.action == FaultAction::kOldSchema && rule.method != "AppendRows" &&
      rule.method != "GetWriteStream") {
    return base::invalidArgument("oldSchema is for the methods AppendRows and GetWriteStream");
  }
  if (rule.action == FaultAction::kQuota) {
    if (rule.quotaCalls == 0 && rule.quotaBytes == 0) {
      return base::invalidArgument("a quota needs quotaCalls or quotaBytes");
    }
    if (rule.quotaPer <= std::chrono::milliseconds::zero()) {
      return base::invalidArgument("quotaPerMs must be above 0");
    }
  }
  if (rule.code == absl::StatusCode::kOk) return base::invalidArgument("code must be a failure");
  if (rule.httpCode < 400 || rule.httpCode > 599) {
    return base::invalidArgument("httpCode must be between 400 and 599");
  }
  StorageError::StorageErrorCode storageError;
  if (!rule.storageError.empty() &&
      !StorageError::StorageErrorCode_Parse(rule.storageError, &storageError)) {
    return base::invalidArgument("storageError: there is no StorageErrorCode {}",
                                 rule.storageError);
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::StatusCode> codeFromName(const std::string& name) {
  for (int code = 1; code <= 16; ++code) {
    if (base::codeName(static_cast<absl::StatusCode>(code)) == name) {
      return static_cast<absl::StatusCode>(code);
    }
  }
  return base::invalidArgument("code: there is no gRPC code {}", name);
}

template <typename Value>
absl::Status read(const json& body, const char* key, Value& value) {
  const auto found = body.find(key);
  if (found == body.end()) return absl::OkStatus();
  bool fits = false;
  if constexpr (std::is_same_v<Value, std::string>) {
    fits = found->is_string();
  } else if constexpr (std::is_same_v<Value, bool>) {
    fits = found->is_boolean();
  } else if constexpr (std::is_same_v<Value, double>) {
    fits = found->is_number();
  } else if constexpr (std::is_unsigned_v<Value>) {
    fits = found->is_number_unsigned();
  } else {
    fits = found->is_number_integer();
  }
  if (!fits)
    return base::invalidArgument("{} has a value of the wrong type: {}", key, found->dump());
  value = found->get<Value>();
  return absl::OkStatus();
}

absl::Status readAction(const json& body, FaultRule& rule) {
  std::string name(nameOf(rule.action));
  PENSTOCK_RETURN_IF_ERROR(read(body, "action", name));
  for (const ActionName& known : kActions) {
    if (known.name != name) continue;
    rule.action = known.action;
    return absl::OkStatus();
  }
  return base::invalidArgument(
      "action must be fail, delay, cutBefore, cutAfter, hang, hideTable, oldSchema or quota, not "
      "{}",
      name);
}

absl::Status readMillis(const json& body, const char* key, std::chrono::milliseconds& value) {
  int64_t millis = value.count();
  PENSTOCK_RETURN_IF_ERROR(read(body, key, millis));
  value = std::chrono::milliseconds(millis);
  return absl::OkStatus();
}

absl::StatusOr<FaultRule> parseRule(std::string_view text) {
  const json body = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!body.is_object()) return base::invalidArgument("the body must be a JSON object");
  for (const auto& [key, value] : body.items()) {
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      return base::invalidArgument("there is no key {}", key);
    }
  }
  FaultRule rule;
  PENSTOCK_RETURN_IF_ERROR(read(body, "method", rule.method));
  PENSTOCK_RETURN_IF_ERROR(read(body, "resource", rule.resource));
  PENSTOCK_RETURN_IF_ERROR(read(body, "nth", rule.nth));
  PENSTOCK_RETURN_IF_ERROR(read(body, "times", rule.times));
  PENSTOCK_RETURN_IF_ERROR(read(body, "probability", rule.probability));
  PENSTOCK_RETURN_IF_ERROR(read(body, "seed", rule.seed));
  PENSTOCK_RETURN_IF_ERROR(readAction(body, rule));
  PENSTOCK_RETURN_IF_ERROR(readMillis(body, "delayMs", rule.delay));
  PENSTOCK_RETURN_IF_ERROR(readMillis(body, "withinMs", rule.within));
  PENSTOCK_RETURN_IF_ERROR(read(body, "quotaCalls", rule.quotaCalls));
  PENSTOCK_RETURN_IF_ERROR(read(body, "quotaBytes", rule.quotaBytes));
  PENSTOCK_RETURN_IF_ERROR(readMillis(body, "quotaPerMs", rule.quotaPer));
  PENSTOCK_RETURN_IF_ERROR(read(body, "quotaPerResource", rule.quotaPerResource));
  std::string code(base::codeName(rule.code));
  PENSTOCK_RETURN_IF_ERROR(read(body, "code", code));
  PENSTOCK_ASSIGN_OR_RETURN(rule.code, codeFromName(code));
  PENSTOCK_RETURN_IF_ERROR(read(body, "endCall", rule.endCall));
  PENSTOCK_RETURN_IF_ERROR(read(body, "storageError", rule.storageError));
  PENSTOCK_RETURN_IF_ERROR(read(body, "httpCode", rule.httpCode));
  PENSTOCK_RETURN_IF_ERROR(read(body, "reason", rule.reason));
  PENSTOCK_RETURN_IF_ERROR(read(body, "message", rule.message));
  return rule;
}

json describeRule(uint64_t id, const FaultRule& rule, uint64_t matched, uint64_t struck) {
  return {{"id", id},
          {"method", rule.method},
          {"resource", rule.resource},
          {"nth", rule.nth},
          {"times", rule.times},
          {"probability", rule.probability},
          {"seed", rule.seed},
          {"action", nameOf(rule.action)},
          {"delayMs", rule.delay.count()},
          {"withinMs", rule.within.count()},
          {"quotaCalls", rule.quotaCalls},
          {"quotaBytes", rule.quotaBytes},
          {"quotaPerMs", rule.quotaPer.count()},
          {"quotaPerResource", rule.quotaPerResource},
          {"code", base::codeName(rule.code)},
          {"endCall", rule.endCall},
          {"storageError", rule.storageError},
          {"httpCode", rule.httpCode},
          {"reason", rule.reason},
          {"message", rule.message},
          {"matched", matched},
          {"struck", struck}};
}

bool isGrpcMethod(std::string_view method) {
  return !method.empty() && method.front() >= 'A' && method.front() <= 'Z';
}

/// The message unless the rule has one of its own.
std::string messageOr(const FaultRule& rule, std::string message) {
  return rule.message == FaultRule().message ? std::move(message) : rule.message;
}

void refuseByQuota(std::string_view method, FaultRule& rule) {
  rule.action = FaultAction::kFail;
  rule.code = absl::StatusCode::kResourceExhausted;
  rule.httpCode = 403;
  if (!isGrpcMethod(method)) {
    const bool changesTable = method.starts_with("tables.");
    rule.reason = "rateLimitExceeded";
    rule.message = messageOr(
        rule, changesTable ? "Exceeded rate limits: too many table update operations for this table"
                           : fmt::format("Exceeded rate limits: too many {} requests", method));
    return;
  }
  const std::string quota =
      method == "AppendRows" ? "AppendRows throughput" : fmt::format("{} requests", method);
  rule.message = messageOr(
      rule, fmt::format("Exceeds '{}' quota, user_id: emulator (status: INSUFFICIENT_TOKENS), you "
                        "can issue a raise quota request through Google Cloud Console.",
                        quota));
}

void hideTable(std::string_view method, std::string_view resource, FaultRule& rule) {
  rule.action = FaultAction::kFail;
  rule.code = absl::StatusCode::kPermissionDenied;
  rule.httpCode = 404;
  rule.reason = "notFound";
  const absl::StatusOr<TableReference> table = tableIn(resource);
  if (!table.ok()) return;
  const bool reads = method == "AppendRows" || method == "GetWriteStream";
  const absl::Status missing =
      maskedMissing(*table, reads ? kPermissionToGet : kPermissionToUpdate);
  rule.message =
      messageOr(rule, isGrpcMethod(method) ? std::string(base::messageOf(missing))
                                           : fmt::format("Not found: Table {}", table->text()));
}

Fault toFault(uint64_t id, const FaultRule& rule, std::string_view method,
              std::string_view resource) {
  Fault fault{id, rule};
  switch (rule.action) {
    case FaultAction::kHideTable:
      fault.tableIsHidden = true;
      hideTable(method, resource, fault.rule);
      break;
    case FaultAction::kOldSchema:
      fault.oldSchema = true;
      fault.rule.action = FaultAction::kDelay;
      break;
    case FaultAction::kQuota:
      refuseByQuota(method, fault.rule);
      break;
    default:
      break;
  }
  return fault;
}

FaultRules::AdminAnswer failure(int httpCode, std::string_view message) {
  const json body = {{"error", {{"code", httpCode}, {"message", message}}}};
  return {httpCode, dumped(body)};
}

}  // namespace

struct FaultRules::Entry {
  /// What passed of a quota in the time that began at `begin`.
  struct Window {
    base::MonotonicTime begin;
    uint64_t calls = 0;
    uint64_t bytes = 0;
  };
  FaultRule rule;
  std::unique_ptr<base::Random> random;
  uint64_t matched = 0;
  uint64_t struck = 0;
  std::map<std::string, Window, std::less<>> windows;  ///< by resource, or one without a name
};

FaultRules::FaultRules(const base::Clock& clock) : clock_(clock) {}
FaultRules::~FaultRules() = default;

absl::StatusOr<uint64_t> FaultRules::add(const FaultRule& rule) {
  PENSTOCK_RETURN_IF_ERROR(check(rule));
  auto entry = std::make_unique<Entry>();
  entry->rule = rule;
  entry->random = base::seededRandom(rule.seed);
  const base::MutexLock lock(mutex_);
  const uint64_t id = nextId_++;
  rules_.emplace(id, std::move(entry));
  return id;
}

bool FaultRules::remove(uint64_t id) {
  const base::MutexLock lock(mutex_);
  return rules_.erase(id) > 0;
}

void FaultRules::clear() {
  const base::MutexLock lock(mutex_);
  rules_.clear();
}

bool FaultRules::isYoungEnough(const FaultRule& rule, std::string_view resource) const {
  if (rule.within == std::chrono::milliseconds::zero()) return true;
  const std::optional<TableAge> age = tableAges_ ? tableAges_(resource) : std::nullopt;
  if (!age.has_value()) return false;
  if (rule.action != FaultAction::kOldSchema) return age->created < rule.within;
  return age->changed.has_value() && *age->changed < rule.within;
}

bool FaultRules::exceedsQuota(Entry& entry, std::string_view resource, size_t bytes) const {
  const FaultRule& rule = entry.rule;
  const base::MonotonicTime now = clock_.now();
  const std::string key(rule.quotaPerResource ? resource : "");
  const auto [found, isNew] = entry.windows.try_emplace(key);
  Entry::Window& window = found->second;
  if (isNew || now - window.begin >= rule.quotaPer) window = {now, 0, 0};
  const bool exceeds = (rule.quotaCalls != 0 && window.calls + 1 > rule.quotaCalls) ||
                       (rule.quotaBytes != 0 && window.bytes + bytes > rule.quotaBytes);
  if (exceeds) return true;
  ++window.calls;
  window.bytes += bytes;
  return false;
}

std::optional<Fault> FaultRules::next(std::string_view method, std::string_view resource,
                                      size_t bytes) {
  const base::MutexLock lock(mutex_);
  std::optional<Fault> fault;
  for (auto& [id, entry] : rules_) {
    const FaultRule& rule = entry->rule;
    if (rule.method != "*" && rule.method != method) continue;
    if (resource.find(rule.resource) == std::string_view::npos) continue;
    if (!isYoungEnough(rule, resource)) continue;
    ++entry->matched;
    if (fault.has_value() || entry->matched < rule.nth) continue;
    if (rule.times != 0 && entry->struck >= rule.times) continue;
    if (rule.probability < 1 && !entry->random->chance(rule.probability)) continue;
    if (rule.action == FaultAction::kQuota && !exceedsQuota(*entry, resource, bytes)) continue;
    ++entry->struck;
    fault = toFault(id, rule, method, resource);
  }
  return fault;
}

uint64_t FaultRules::struck(uint64_t id) const {
  const base::MutexLock lock(mutex_);
  const auto found = rules_.find(id);
  return found == rules_.end() ? 0 : found->second->struck;
}

FaultRules::AdminAnswer FaultRules::handleAdmin(std::string_view httpMethod,
                                                std::string_view idParameter,
                                                std::string_view body) {
  if (httpMethod == "POST") {
    const absl::StatusOr<FaultRule> rule = parseRule(body);
    const absl::StatusOr<uint64_t> id = rule.ok() ? add(*rule) : rule.status();
    if (!id.ok()) return failure(400, base::messageOf(id.status()));
    return {200, json{{"id", *id}}.dump()};
  }
  if (httpMethod == "GET") {
    json list = json::array();
    const base::MutexLock lock(mutex_);
    for (const auto& [id, entry] : rules_) {
      list.push_back(describeRule(id, entry->rule, entry->matched, entry->struck));
    }
    return {200, dumped(json{{"rules", list}})};
  }
  if (httpMethod == "DELETE") {
    if (idParameter.empty()) {
      clear();
      return {200, "{}"};
    }
    uint64_t id = 0;
    const char* const end = idParameter.data() + idParameter.size();
    const auto [stop, error] = std::from_chars(idParameter.data(), end, id);
    if (error != std::errc() || stop != end) return failure(400, "id must be a number");
    if (!remove(id)) return failure(404, fmt::format("there is no rule {}", id));
    return {200, "{}"};
  }
  return failure(405, "use POST, GET or DELETE");
}

}  // namespace penstock::emulator
