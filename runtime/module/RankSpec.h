//===- RankSpec.h - What a module for several ranks says --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model that several ranks share is one module: each rank has targets of its
// own, and entries for them. Some kernels have no code. They are what the ranks
// do together, and the runtime does them.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_MODULE_RANKSPEC_H
#define GIST_RUNTIME_MODULE_RANKSPEC_H

#include "runtime/module/ModuleSpec.h"

namespace gist {

/// Named among the requirements of such a module.
inline constexpr const char *kRanksRequirement = "ranks";
inline constexpr uint32_t kMaxRanks = 1024;

/// The numbers are part of the file format.
enum class Collective : uint8_t {
  AllReduce = 1, ///< f32 sums, in the order of the ranks
  AllGather = 2, ///< the columns of all ranks side by side
  HandOn = 3,    ///< what one rank has goes to another
};

/// A kernel without code. Its first two arguments are what the rank has and
/// where the result goes, whole buffers of f32; sizes that follow are not read.
struct CollectiveSpec {
  uint32_t kernel = 0;
  Collective kind = Collective::AllReduce;
  std::vector<int64_t> columns = {}; ///< AllGather: of each rank
  uint32_t from = 0, to = 0;         ///< HandOn

  bool isSame(const CollectiveSpec &other) const {
    return kind == other.kind && columns == other.columns &&
           from == other.from && to == other.to;
  }
};

struct RankSpec {
  uint32_t count = 1;
  std::vector<uint32_t> targets = {}; ///< the rank of each target; none: 0
  std::vector<CollectiveSpec> collectives = {}; ///< by ascending kernel

  uint32_t rankOf(uint32_t target) const {
    return target < targets.size() ? targets[target] : 0;
  }
  /// Null for a kernel with code.
  const CollectiveSpec *find(uint32_t kernel) const;
};

/// Checks what `ranks` says of `spec`, which has passed verifySpec.
Status verifyRanks(const ModuleSpec &spec, const RankSpec &ranks);

} // namespace gist

#endif // GIST_RUNTIME_MODULE_RANKSPEC_H
