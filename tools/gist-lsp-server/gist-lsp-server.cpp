//===- gist-lsp-server.cpp - Editors and gist IR --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's language server with the dialect of Gist, for editors.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "passes/Driver/CrashReport.h"
#include "passes/Driver/Registration.h"
#include "passes/Driver/Version.h"

int main(int argc, char **argv) {
  gist::setCrashReport();
  gist::setVersion("gist-lsp-server");
  gist::printStackOnCrash(argv[0]);
  mlir::DialectRegistry registry;
  gist::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
