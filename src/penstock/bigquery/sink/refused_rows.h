#pragma once

#include <vector>

#include "penstock/bigquery/sink/destination_context.h"
#include "penstock/bigquery/sink/sealed_batch.h"

namespace penstock::bigquery {

/// Takes the rows that `outcome` refuses out of `batch` and into `failures`, one each, in the order
/// of the rows. What is left stays in `batch`, sealed anew, or nothing if all were refused
/// (BQW-076). False: no refusal names a row that is there, and `batch` is as it was.
[[nodiscard]] bool takeRefusedRows(const DestinationContext& context, const AppendOutcome& outcome,
                                   SealedBatch& batch,
                                   std::vector<connector::FailedRecord>& failures);

}  // namespace penstock::bigquery
