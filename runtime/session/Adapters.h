//===- Adapters.h - Adapters that tokens choose -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module may have adapters (LoRA) beside its weights. Which one a token is
// computed with is said by the number that kernels get for it, so that the
// sequences of a call may have different ones.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_ADAPTERS_H
#define GIST_RUNTIME_SESSION_ADAPTERS_H

#include "runtime/module/ModuleSpec.h"
#include "runtime/support/Status.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gist {

/// The names of a module's adapters. Their numbers count from 1.
std::vector<std::string> adapterNames(const ModelInfo &model);

/// The number of an adapter; 0 for the empty name: none.
Status findAdapter(const ModelInfo &model, std::string_view name,
                   int32_t &number);
/// Fails where the module has no adapter of this number.
Status checkAdapter(const ModelInfo &model, int32_t number);

/// What kernels get for a token, and the two parts of it.
int32_t withAdapter(int32_t token, int32_t adapter);
int32_t tokenOf(int32_t number);
int32_t adapterOf(int32_t number);

/// Refuses what is no token of the vocabulary or has an adapter that is not
/// there: kernels read rows of tables by these numbers and do not check them.
Status checkNumbers(std::span<const int32_t> numbers, const ModelInfo &model);

} // namespace gist

#endif // GIST_RUNTIME_SESSION_ADAPTERS_H
