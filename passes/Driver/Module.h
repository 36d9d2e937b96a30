//===- Module.h - What a module says about itself ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_MODULE_H
#define GIST_PASSES_DRIVER_MODULE_H

#include "passes/Driver/Options.h"
#include "passes/Driver/Target.h"
#include "passes/Import/ImportModel.h"
#include "runtime/module/ModuleWriter.h"

namespace gist::compile {

/// Sets everything about the model that is not in its program: names, sizes,
/// special tokens, the tokenizer, how it was compiled. `compute` names the
/// number formats of its products.
void describeModel(const Options &options, const ImportedModel &model,
                   const std::string &compute, ModuleWriter &writer);

/// The target of code for `target`, which needs `features` of a CPU.
TargetSpec describeTarget(const Target &target,
                          const std::vector<std::string> &features);

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_MODULE_H
