#include "penstock/bigquery/sink/testing/scripted_service.h"

namespace penstock::bigquery {
namespace {

class ScriptedCall final : public AppendCall {
 public:
  explicit ScriptedCall(std::shared_ptr<ScriptedCalls::Call> record) : record_(std::move(record)) {}
  ~ScriptedCall() override { record_->destroyed = true; }
  void start() override { record_->started = true; }
  void write(AppendRequestBytes request) override {
    ScriptedCalls::Write write;
    write.header = std::move(request.header);
    request.rows->forEachRow([&](size_t, std::string_view row) { write.rows.emplace_back(row); });
    record_->writes.push_back(std::move(write));
  }
  void cancel() override { record_->cancelled = true; }

 private:
  std::shared_ptr<ScriptedCalls::Call> record_;
};

}  // namespace

std::unique_ptr<AppendCall> ScriptedCalls::create(const AppendCallOptions& options,
                                                  std::shared_ptr<AppendCallEvents> events) {
  auto record = std::make_shared<Call>();
  record->options = options;
  record->events = std::move(events);
  calls.push_back(record);
  return std::make_unique<ScriptedCall>(std::move(record));
}

}  // namespace penstock::bigquery
