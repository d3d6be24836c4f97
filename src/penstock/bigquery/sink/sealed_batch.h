#pragma once

#include <memory>
#include <utility>

#include "penstock/bigquery/sink/buffer_account.h"
#include "penstock/connector/row_batch.h"

namespace penstock::bigquery {

/// Rows that nothing is added to any more, until their fate is known. Owns their share of what
/// the writer holds, which goes when the rows go, on whatever path. Task thread only.
class SealedBatch {
 public:
  SealedBatch() = default;
  SealedBatch(std::shared_ptr<connector::RowBatch> rows, BufferAccount& account)
      : rows_(std::move(rows)), account_(&account) {
    account_->addSealed(bytes());
  }
  SealedBatch(SealedBatch&& other) noexcept
      : rows_(std::move(other.rows_)), account_(other.account_) {}
  SealedBatch& operator=(SealedBatch&& other) noexcept {
    if (this == &other) return *this;
    release();
    rows_ = std::move(other.rows_);
    account_ = other.account_;
    return *this;
  }
  ~SealedBatch() { release(); }

  explicit operator bool() const { return rows_ != nullptr; }
  [[nodiscard]] const connector::RowBatch& operator*() const { return *rows_; }
  [[nodiscard]] const connector::RowBatch* operator->() const { return rows_.get(); }
  /// For the transport, which keeps them as long as it needs the bytes.
  [[nodiscard]] std::shared_ptr<const connector::RowBatch> share() const { return rows_; }

 private:
  [[nodiscard]] int64_t bytes() const { return static_cast<int64_t>(rows_->framedBytes()); }
  void release() {
    if (rows_) account_->addSealed(-bytes());
    rows_.reset();
  }

  std::shared_ptr<connector::RowBatch> rows_;
  BufferAccount* account_ = nullptr;
};

}  // namespace penstock::bigquery
