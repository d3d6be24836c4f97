#include "exactly_once/ledger.h"

#include <fmt/format.h>

#include <algorithm>

namespace penstock::simulation {

Ledger::Ledger(const Input& input, std::vector<std::string>& violations)
    : input_(input), violations_(violations), covered_(input.size()), committed_(input.size()) {
  for (size_t split = 0; split < input.size(); ++split) {
    fates_.emplace_back(input[split].size());
    for (size_t index = 0; index < input[split].size(); ++index) {
      places_[input[split][index].text] = {split, index};
    }
  }
}

void Ledger::onVisible(const std::string& row) {
  const auto found = places_.find(row);
  if (found == places_.end()) return violated("a stranger's row is visible: " + row);
  const Place& place = found->second;
  if (!input_[place.split][place.index].isGood()) violated("a bad row is visible: " + row);
  if (place.index >= covered_[place.split]) {
    violated("visible before a checkpoint covers it: " + row);
  }
  if (++fateOf(place).visible == 2) violated("visible twice: " + row);
}

void Ledger::onHandled(const std::string& text) {
  const auto found = places_.find(text);
  if (found == places_.end()) return violated("the handler got a stranger: " + text);
  const Record& record = input_[found->second.split][found->second.index];
  if (record.isGood() || record.isSkipped()) violated("the handler got a good record: " + text);
  ++fateOf(found->second).handled;
}

void Ledger::onCovered(const Positions& positions) {
  for (size_t split = 0; split < positions.size(); ++split) {
    for (size_t index = covered_[split]; index < positions[split]; ++index) {
      const Record& record = input_[split][index];
      if (!record.isGood() && !record.isSkipped() && fates_[split][index].handled == 0) {
        violated("covered, and not with the handler: " + record.text);
      }
    }
    if (positions[split] < covered_[split]) violated("a checkpoint covers less than one before");
  }
  covered_ = positions;
}

void Ledger::onCommitted(const Positions& positions) {
  for (size_t split = 0; split < positions.size(); ++split) {
    for (size_t index = committed_[split]; index < positions[split]; ++index) {
      if (input_[split][index].isGood() && fates_[split][index].visible == 0) {
        violated("committed, and not visible: " + input_[split][index].text);
      }
    }
    committed_[split] = std::max(committed_[split], positions[split]);
  }
}

void Ledger::checkEnd(bool restarted) {
  for (size_t split = 0; split < input_.size(); ++split) {
    for (size_t index = 0; index < input_[split].size(); ++index) {
      const Record& record = input_[split][index];
      const Fate& fate = fates_[split][index];
      if (record.isGood() && fate.visible == 0) violated("lost: " + record.text);
      if (record.isGood() || record.isSkipped()) continue;
      if (fate.handled == 0) violated("never reached the handler: " + record.text);
      if (fate.handled > 1 && !restarted) {
        violated(fmt::format("handled {} times: {}", fate.handled, record.text));
      }
    }
  }
}

}  // namespace penstock::simulation
