#pragma once

#include <map>
#include <string>
#include <vector>

#include "exactly_once/plan.h"
#include "simulated_service.h"

namespace penstock::simulation {

/// What has become of each record, and which promises that breaks.
class Ledger {
 public:
  Ledger(const Input& input, std::vector<std::string>& violations);

  /// A row has become visible.
  void onVisible(const std::string& row);
  void onHandled(const std::string& text);
  /// A checkpoint that covers so much is durable.
  void onCovered(const Positions& positions);
  /// All that a checkpoint covers was to be visible now.
  void onCommitted(const Positions& positions);
  /// Of a run whose job never restarted, each handled record was handled once.
  void checkEnd(bool restarted);

 private:
  struct Place {
    size_t split = 0;
    size_t index = 0;
  };
  struct Fate {
    int visible = 0;
    int handled = 0;
  };
  void violated(std::string what) { violations_.push_back(std::move(what)); }
  Fate& fateOf(const Place& place) { return fates_[place.split][place.index]; }

  const Input& input_;
  std::vector<std::string>& violations_;
  std::map<std::string, Place> places_;
  std::vector<std::vector<Fate>> fates_;
  Positions covered_;
  Positions committed_;
};

}  // namespace penstock::simulation
