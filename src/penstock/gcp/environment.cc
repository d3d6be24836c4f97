#include "penstock/gcp/environment.h"

#include <cstdlib>

namespace penstock::gcp {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

Environment Environment::read() {
  return {.applicationCredentials = variable("GOOGLE_APPLICATION_CREDENTIALS"),
          .cloudSdkConfig = variable("CLOUDSDK_CONFIG"),
          .home = variable("HOME"),
          .metadataHost = variable("GCE_METADATA_HOST"),
          .quotaProject = variable("GOOGLE_CLOUD_QUOTA_PROJECT")};
}

}  // namespace penstock::gcp
