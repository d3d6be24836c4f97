#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "penstock/emulator/emulator.h"

namespace penstock::emulator {

/// Options for a test: any free ports, the dataset p.d, and a directory that goes with the emulator
/// unless one is given.
inline EmulatorOptions localEmulatorOptions(std::string dataDirectory = "") {
  EmulatorOptions options;
  options.dataDirectory = std::move(dataDirectory);
  options.restPort = 0;
  options.grpcPort = 0;
  options.datasets = {"p.d"};
  return options;
}

/// An emulator that serves; the test ends when there is none.
inline std::unique_ptr<Emulator> startLocalEmulator(
    const EmulatorOptions& options = localEmulatorOptions()) {
  absl::StatusOr<std::unique_ptr<Emulator>> emulator = Emulator::start(options);
  EXPECT_TRUE(emulator.ok()) << emulator.status();
  return *std::move(emulator);
}

}  // namespace penstock::emulator
