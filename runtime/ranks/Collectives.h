//===- Collectives.h - What ranks do together -------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_RANKS_COLLECTIVES_H
#define GIST_RUNTIME_RANKS_COLLECTIVES_H

#include "runtime/ranks/Communicator.h"

#include <vector>

namespace gist {

/// Memory that collectives work in, kept from one to the next.
struct CollectiveScratch {
  std::vector<float> floats;
  std::vector<uint8_t> bytes;
};

/// Sets `sum` to ((part of rank 0 + part of rank 1) + part of rank 2) + ... on
/// all ranks: the same bits everywhere, because every rank adds in this order
/// or receives the result.
Status allReduce(Communicator &ranks, std::span<const float> part,
                 std::span<float> sum, CollectiveScratch &scratch);

/// Sets `all` to the columns of all ranks side by side, row by row; rank r has
/// `columns[r]`.
Status allGather(Communicator &ranks, std::span<const float> part,
                 std::span<const int64_t> columns, std::span<float> all,
                 CollectiveScratch &scratch);

/// Sets `result` to what rank `from` has on rank `to`, and to what it has
/// itself on every other.
Status handOn(Communicator &ranks, uint32_t from, uint32_t to,
              std::span<const float> part, std::span<float> result);

/// Gives `message` of rank 0 to all. The others wait for it as `patience` says.
Status broadcast(Communicator &ranks, std::vector<uint8_t> &message,
                 Patience patience);

/// Fails unless all ranks have the same number; the error names one that
/// differs from rank 0.
Status compareHashes(Communicator &ranks, uint64_t hash);

} // namespace gist

#endif // GIST_RUNTIME_RANKS_COLLECTIVES_H
