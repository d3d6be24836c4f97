#pragma once

#include <string>

namespace penstock::gcp {

/// The environment variables that credentials look at; an unset one is empty. Read here and nowhere
/// else. Emulator variables of other tools are never read: a leftover one could point a production
/// job at an emulator (BASE-007).
struct Environment {
  std::string applicationCredentials;  ///< GOOGLE_APPLICATION_CREDENTIALS: a credentials file
  std::string cloudSdkConfig;          ///< CLOUDSDK_CONFIG: gcloud's configuration folder
  std::string home;                    ///< HOME
  std::string metadataHost;            ///< GCE_METADATA_HOST: host[:port] of the metadata server
  std::string quotaProject;            ///< GOOGLE_CLOUD_QUOTA_PROJECT

  /// As the process's environment is now.
  [[nodiscard]] static Environment read();
};

}  // namespace penstock::gcp
