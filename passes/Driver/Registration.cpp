//===- Registration.cpp - Dialects and passes the tools know --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Registration.h"
#include "dialect/GistDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

/// All dialects: gist-opt and its kin take any MLIR file.
void gist::registerDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<GistDialect>();
}

void gist::registerGistPassesAndPipelines() {
  registerGistPasses();
  registerPipelines();
}

void gist::registerPassesAndPipelines() {
  mlir::registerAllPasses();
  registerGistPassesAndPipelines();
}
