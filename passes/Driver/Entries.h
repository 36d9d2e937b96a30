//===- Entries.h - The functions that a session calls -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_ENTRIES_H
#define GIST_PASSES_DRIVER_ENTRIES_H

#include "passes/Driver/Options.h"
#include "passes/Import/ImportModel.h"

namespace gist::compile {

/// Imports the model of `options` under the names that a session calls
/// (runtime/module/ModuleSpec.h): a decoder is `prefill`, and `score` too when
/// the logits of every token are wanted; an encoder of sentences is `embed`;
/// anything else is `forward`. With `wholeSequences` a decoder has no cache and
/// is `score` alone. On error the results are left as they were.
Status importEntries(const Options &options, bool wholeSequences,
                     mlir::MLIRContext &context,
                     mlir::OwningOpRef<mlir::ModuleOp> &program,
                     WeightMap &weights, ImportedModel &model);

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_ENTRIES_H
