//===- PackWeights.h - Weights in the order kernels read them ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `gist.weight` that is used packed has the packed type and says how in two
// attributes: `gist.format` (how the model file stores it) and `gist.packing`.
// One that is made of several, one below the other, lists their names in
// `gist.parts`. The module's writer joins the stored bytes and turns them into
// the packed ones with packWeight. Packing is exact: no value changes.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_PACKWEIGHTS_H
#define GIST_PASSES_KERNEL_PACKWEIGHTS_H

#include "dialect/GistDialect.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace gist {

/// The bytes of a weight of `rows` x `columns` values, stored in blocks of
/// `format`, in the order that `packing` describes. `stored` has the size that
/// the format gives it; `columns` is a whole number of blocks.
std::vector<uint8_t> packWeight(BlockFormat format, PackingAttr packing,
                                llvm::ArrayRef<uint8_t> stored, int64_t rows,
                                int64_t columns);

} // namespace gist

#endif // GIST_PASSES_KERNEL_PACKWEIGHTS_H
