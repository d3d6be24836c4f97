#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/testing/manual_clock.h"
#include "penstock/bigquery/sink/append_pool.h"
#include "penstock/bigquery/sink/testing/scripted_service.h"

namespace penstock::bigquery {

/// Notes what the pool tells a writer.
class NotingClient final : public AppendPoolClient {
 public:
  void onAppendDone(AppendToken token, AppendOutcome outcome) override {
    done.emplace_back(token, std::move(outcome));
  }
  void onRoom() override { ++rooms; }

  std::vector<std::pair<AppendToken, AppendOutcome>> done;
  int rooms = 0;
};

/// A pool over scripted calls, with one writer that notes what it is told.
class AppendPoolTest : public testing::Test {
 protected:
  void start(const ConnectionLimits& limits = {}, int minConnections = 1, int maxConnections = 1) {
    options_.connection = limits;
    options_.process.minConnections = minConnections;
    options_.process.maxConnections = maxConnections;
    pool_ = AppendPool::create(calls_, clock_, base::seededRandom(1), bounds_);
    writer_ = pool_->addWriter(client_, options_);
  }
  AppenderId open(const std::string& table, const std::string& location = "us",
                  bool dedicated = false) {
    auto target = std::make_shared<StreamTarget>();
    target->stream = "projects/p/datasets/d/tables/" + table + "/streams/_default";
    target->descriptor = "descriptor";
    return pool_->openAppender(writer_, {std::move(target), location, dedicated});
  }
  bool append(AppenderId appender, uint64_t token = 1, const std::string& row = "row") {
    auto rows = std::make_shared<connector::RowBatch>();
    rows->appendRow(row);
    return pool_->append(appender, AppendToken{token}, std::move(rows));
  }

  base::ManualClock clock_;
  std::shared_ptr<ScriptedCalls> calls_ = std::make_shared<ScriptedCalls>();
  std::shared_ptr<NotingClient> client_ = std::make_shared<NotingClient>();
  std::shared_ptr<ProcessBounds> bounds_ = std::make_shared<ProcessBounds>();
  std::shared_ptr<AppendPool> pool_;
  PoolOptions options_;
  uint32_t writer_ = 0;
};

}  // namespace penstock::bigquery
