//===- Metadata.h - ModuleSpec to and from its FlatBuffer -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_MODULE_METADATA_H
#define GIST_RUNTIME_MODULE_METADATA_H

#include "runtime/module/RankSpec.h"
#include "runtime/support/Bytes.h"

#include <string>

namespace gist {

/// The metadata section's bytes. Equal specs give equal bytes.
std::string encodeMetadata(const ModuleSpec &spec, const RankSpec &ranks = {});

/// The inverse, for bytes from anywhere. Checks the FlatBuffer's structure;
/// what it says must still pass verifySpec() and verifyRanks().
Status decodeMetadata(Bytes bytes, ModuleSpec &spec, RankSpec &ranks);

} // namespace gist

#endif // GIST_RUNTIME_MODULE_METADATA_H
