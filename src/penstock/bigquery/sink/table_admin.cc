#include "penstock/bigquery/sink/table_admin.h"

namespace penstock::bigquery {

bool isPassing(const AdminError& error) {
  switch (error.httpCode) {
    case 0:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
      return true;
    default:
      return error.reason == "rateLimitExceeded";
  }
}

}  // namespace penstock::bigquery
