//===- ThreadRanks.h - Ranks that are threads of one process ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_RANKS_THREADRANKS_H
#define GIST_RUNTIME_RANKS_THREADRANKS_H

#include "runtime/ranks/Communicator.h"

#include <memory>
#include <vector>

namespace gist {

/// A communicator for each of `count` threads.
std::vector<std::unique_ptr<Communicator>>
makeThreadRanks(uint32_t count, const CommunicatorOptions &options = {});

} // namespace gist

#endif // GIST_RUNTIME_RANKS_THREADRANKS_H
