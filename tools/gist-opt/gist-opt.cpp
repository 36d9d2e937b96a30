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
#include "passes/Driver/Nesting.h"
#include "passes/Driver/Registration.h"
#include "passes/Driver/Version.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

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

/// As MlirOptMain, with a look at the input before it is parsed.
static llvm::LogicalResult run(int argc, char **argv, llvm::StringRef in,
                               llvm::StringRef out,
                               mlir::DialectRegistry &registry) {
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::MlirOptMain(argc, argv, in, out, registry);
  llvm::InitLLVM init(argc, argv);
  std::string message;
  auto input = mlir::openInputFile(in, &message);
  auto output = input ? mlir::openOutputFile(out, &message) : nullptr;
  if (!output) {
    llvm::errs() << message << "\n";
    return llvm::failure();
  }
  gist::Status status =
      gist::compile::checkNesting(in.str(), input->getBuffer());
  if (!status.ok()) {
    llvm::errs() << "error: " << status.text << "\n";
    return llvm::failure();
  }
  if (failed(
          mlir::MlirOptMain(output->os(), std::move(input), registry, config)))
    return llvm::failure();
  output->keep();
  return llvm::success();
}

int main(int argc, char **argv) {
  gist::setCrashReport();
  gist::setVersion("gist-opt");
  // Before MLIR adds its own.
  hideOptionsOfLibraries();
  mlir::DialectRegistry registry;
  gist::registerDialects(registry);
  if (wantsHelp(argc, argv))
    gist::registerGistPassesAndPipelines();
  else
    gist::registerPassesAndPipelines();
  auto [in, out] = mlir::registerAndParseCLIOptions(
      argc, argv,
      "Runs passes and stages of Gist on .mlir files. --help-hidden adds the "
      "passes of MLIR and the options of LLVM.\n",
      registry);
  return mlir::asMainReturnCode(run(argc, argv, in, out, registry));
}
