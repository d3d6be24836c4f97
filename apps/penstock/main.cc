#include "apps/penstock/command_line.h"

int main(int argc, char** argv) {
  return penstock::command::runCommandLine(argc, argv, penstock::command::environmentOfProcess());
}
