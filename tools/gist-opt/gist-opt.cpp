//===- gist-opt.cpp - Runs passes on .mlir files --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with the dialect, passes and pipelines of Gist. gist-compile runs
// the same pipelines, so everything it does can be reproduced here, stage by
// stage. --help lists what is Gist's; --help-hidden adds upstream's passes and
// LLVM's options.
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/CrashReport.h"
#include "passes/Driver/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include "llvm/Support/CommandLine.h"

#include <algorithm>
#include <string_view>

/// True if the command line asks for the short help.
static bool wantsHelp(int argc, char **argv) {
  return std::any_of(argv + 1, argv + argc, [](std::string_view argument) {
    return argument == "--help" || argument == "-help" || argument == "-h" ||
           argument == "--h";
  });
}

/// LLVM's libraries bring hundreds of options, which would stand before and
/// between ours. They can still be given.
static void hideOptionsOfLibraries() {
  for (auto &entry : llvm::cl::getRegisteredOptions())
    if (entry.second->getOptionHiddenFlag() == llvm::cl::NotHidden &&
        entry.first != "help" && entry.first != "version")
      entry.second->setHiddenFlag(llvm::cl::Hidden);
}

int main(int argc, char **argv) {
  gist::setCrashReport();
  // Before MLIR adds its own.
  hideOptionsOfLibraries();
  mlir::DialectRegistry registry;
  gist::registerDialects(registry);
  if (wantsHelp(argc, argv))
    gist::registerGistPassesAndPipelines();
  else
    gist::registerPassesAndPipelines();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv,
      "Runs passes and stages of Gist on .mlir files. --help-hidden adds the "
      "passes of MLIR and the options of LLVM.\n",
      registry));
}
