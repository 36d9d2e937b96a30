//===- gist-reduce.cpp - Shrinks IR that shows a problem ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-reduce with the dialect and passes of Gist: makes a file that shows a
// problem smaller, as long as a test script still finds the problem.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "passes/Driver/CrashReport.h"
#include "passes/Driver/Registration.h"
#include "passes/Driver/Version.h"

int main(int argc, char **argv) {
  gist::setCrashReport();
  gist::setVersion("gist-reduce");
  mlir::DialectRegistry registry;
  gist::registerDialects(registry);
  gist::registerPassesAndPipelines();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
