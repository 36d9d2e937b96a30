//===- RandomWeights.h - Weights of random numbers --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How fast a model is depends on its shape and not on what it has learnt. A
// module may therefore say of a weight only how its numbers are spread: a model
// of many gigabytes is then measured from a file of a few hundred kilobytes.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_MODULE_RANDOMWEIGHTS_H
#define GIST_RUNTIME_MODULE_RANDOMWEIGHTS_H

#include "runtime/module/ModuleSpec.h"
#include "runtime/support/Bytes.h"
#include "runtime/support/Status.h"

#include <functional>
#include <string>

namespace gist {

/// Bytes of a number in a format that random weights may have, "f32", "f16" or
/// "bf16"; 0 for others.
uint64_t randomWidth(const std::string &format);

/// Gives the bytes of a verified weight of random numbers to `sink`, in pieces.
/// They depend on its name alone: the same in every module, session and
/// machine.
Status
makeRandomWeight(const WeightSpec &weight,
                 const std::function<Status(uint64_t offset, Bytes)> &sink);

} // namespace gist

#endif // GIST_RUNTIME_MODULE_RANDOMWEIGHTS_H
