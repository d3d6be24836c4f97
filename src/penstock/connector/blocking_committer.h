#pragma once

#include <memory>

#include "penstock/connector/sink.h"
#include "penstock/connector/writer_core.h"

namespace penstock::connector {

/// The blocking face of a CommitterCore: a loop over its poll. One thread at a time, except
/// cancel().
class BlockingCommitter final : public Committer {
 public:
  explicit BlockingCommitter(std::unique_ptr<CommitterCore> core) : core_(std::move(core)) {}

  absl::Status commit(std::span<const Committable> committables) override;
  absl::Status close() override;
  void cancel() override { core_->cancel(); }

 private:
  absl::Status finishOperation();

  std::unique_ptr<CommitterCore> core_;
};

}  // namespace penstock::connector
