#include "penstock/emulator/version.h"

namespace penstock::emulator {

std::string_view version() { return PENSTOCK_VERSION; }

}  // namespace penstock::emulator
