//===- user.cpp - A project that uses the installed dialect ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

int main() {
  mlir::MLIRContext context;
  context.loadDialect<gist::GistDialect>();
  llvm::outs() << gist::SelectionType::get(&context, 3,
                                           mlir::ShapedType::kDynamic)
               << "\n";
  return 0;
}
