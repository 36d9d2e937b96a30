//===- gist-opt.cpp - Runs passes on .mlir files --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with the dialect, passes and pipelines of Gist. gist-compile runs
// the same pipelines, so everything it does can be reproduced here, stage by
// stage.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Driver/Registration.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  gist::registerDialects(registry);
  gist::registerPassesAndPipelines();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Gist optimizer driver\n", registry));
}
