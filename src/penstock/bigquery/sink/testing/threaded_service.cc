#include "penstock/bigquery/sink/testing/threaded_service.h"

#include <atomic>
#include <utility>

namespace penstock::bigquery {

/// One call; its events come from the service's thread until it is cancelled or destroyed.
class ThreadedService::Call final : public AppendCall {
 public:
  Call(ThreadedService& service, std::shared_ptr<AppendCallEvents> events)
      : service_(service), line_(std::make_shared<Line>()) {
    line_->events = std::move(events);
  }
  ~Call() override { line_->open = false; }

  void start() override {}
  void write(AppendRequestBytes request) override {
    service_.post([&service = service_, line = line_, request = std::move(request)] {
      if (line->open) handle(service, *line, request);
    });
  }
  void cancel() override {
    service_.post([line = line_] { end(*line, absl::StatusCode::kCancelled); });
  }

 private:
  struct Line {
    std::shared_ptr<AppendCallEvents> events;
    std::atomic<bool> open{true};
  };

  static void handle(ThreadedService& service, Line& line, const AppendRequestBytes& request) {
    const Fate fate = service.take(request);
    line.events->onWriteDone(true);
    AppendResponse response;
    if (!service.behaviour_.updatedSchema.empty()) {
      response.updatedSchema = service.behaviour_.updatedSchema;
    }
    if (fate == Fate::kNoTable) response.status = absl::NotFoundError("no such table");
    if (fate == Fate::kAnswer || fate == Fate::kNoTable) line.events->onMessage(response);
    if (fate == Fate::kCutBefore || fate == Fate::kCutAfter) {
      end(line, absl::StatusCode::kUnavailable);
    }
  }
  static void end(Line& line, absl::StatusCode code) {
    if (line.open.exchange(false)) {
      line.events->onDone(absl::Status(code, "cut"), StorageErrorCode::kNone);
    }
  }

  ThreadedService& service_;
  std::shared_ptr<Line> line_;
};

ThreadedService::ThreadedService(Behaviour behaviour)
    : behaviour_(behaviour), thread_([work = work_] { run(*work); }) {}

ThreadedService::~ThreadedService() {
  work_->post({});
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();  // it holds its work and leaves at the empty one
  } else {
    thread_.join();
  }
}

void ThreadedService::run(Work& work) {
  std::vector<std::function<void()>> arrived;
  while (true) {
    work.waitUntil(base::kNever);
    work.drain(arrived);
    for (std::function<void()>& task : arrived) {
      if (!task) return;
      std::exchange(task, nullptr)();
    }
  }
}

ThreadedService::Fate ThreadedService::take(const AppendRequestBytes& request) {
  base::MutexLock lock(mutex_);
  ++requests_;
  headers_.push_back(request.header);
  arrived_.notifyAll();
  if (behaviour_.silent) return Fate::kSilence;
  if (behaviour_.tablesMissing && createdWith_.empty()) return Fate::kNoTable;
  Fate fate = Fate::kAnswer;
  if (behaviour_.cutEvery > 0 && requests_ % behaviour_.cutEvery == 0) {
    fate = ++cuts_ % 2 == 0 ? Fate::kCutBefore : Fate::kCutAfter;
  }
  if (fate != Fate::kCutBefore) {
    request.rows->forEachRow([this](size_t, std::string_view row) { ++rows_[std::string(row)]; });
  }
  return fate;
}

std::unique_ptr<AppendCall> ThreadedService::create(const AppendCallOptions&,
                                                    std::shared_ptr<AppendCallEvents> events) {
  return std::make_unique<Call>(*this, std::move(events));
}

void ThreadedService::getWriteStream(const std::string& stream, bool, base::Duration, bool,
                                     StreamCallback callback) {
  post([stream, schema = behaviour_.schema, callback = std::move(callback)] {
    WriteStreamInfo info;
    info.schema = schema;
    info.name = stream;
    info.location = "us";
    callback(std::move(info));
  });
}

void ThreadedService::getTable(const TableName&, base::Duration, TableCallback callback) {
  post([callback = std::move(callback)] { callback({}, {}); });
}

void ThreadedService::updateSchema(const TableName&, const std::string&, const std::string&,
                                   DoneCallback callback) {
  post([callback = std::move(callback)] { callback({}); });
}

void ThreadedService::createTable(const TableName&, const TableSchema&,
                                  const TableCreateOptions& options, DoneCallback callback) {
  post([this, options, callback = std::move(callback)] {
    {
      base::MutexLock lock(mutex_);
      createdWith_.push_back(options);
    }
    callback({});
  });
}

std::vector<std::string> ThreadedService::headers() const {
  base::MutexLock lock(mutex_);
  return headers_;
}

std::vector<TableCreateOptions> ThreadedService::createdWith() const {
  base::MutexLock lock(mutex_);
  return createdWith_;
}

std::unordered_map<std::string, int> ThreadedService::rows() const {
  base::MutexLock lock(mutex_);
  return rows_;
}

int ThreadedService::cuts() const {
  base::MutexLock lock(mutex_);
  return cuts_;
}

bool ThreadedService::waitForRequests(int count) {
  base::MutexLock lock(mutex_);
  const auto deadline = base::systemClock().now() + std::chrono::seconds(10);
  while (requests_ < count && base::systemClock().now() < deadline) {
    arrived_.waitUntil(mutex_, deadline);
  }
  return requests_ >= count;
}

}  // namespace penstock::bigquery
