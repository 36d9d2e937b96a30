//===- Module.h - What a module says about itself ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_COMPILE_MODULE_H
#define GIST_TOOLS_GIST_COMPILE_MODULE_H

#include "passes/Import/ImportModel.h"
#include "passes/Target/TargetInfo.h"
#include "runtime/ModuleWriter.h"
#include "tools/gist-compile/Options.h"

namespace gist::compile {

/// Sets everything about the model that is not in its program: names, sizes,
/// special tokens, the tokenizer, how it was compiled. `isInt8` says what
/// products were made of.
void describeModel(const Options &options, const ImportedModel &model,
                   bool isInt8, ModuleWriter &writer);

/// The target of code for `target`. It demands the features that the code may
/// use and that a runtime can ask its CPU for.
TargetSpec describeTarget(const CpuTarget &target);

} // namespace gist::compile

#endif // GIST_TOOLS_GIST_COMPILE_MODULE_H
