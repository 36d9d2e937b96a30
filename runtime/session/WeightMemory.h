//===- WeightMemory.h - The weights of a module on a device -----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_WEIGHTMEMORY_H
#define GIST_RUNTIME_SESSION_WEIGHTMEMORY_H

#include "runtime/session/Binding.h"

#include <vector>

namespace gist {

/// Which buffers entries for `target` use.
std::vector<bool> usedBuffers(const ModuleSpec &spec, uint32_t target);

/// Brings the weights that entries for `target` read to the device, each once:
/// `weights` has one for each of the module, and `map` says where buffers of
/// them are.
Status loadWeights(const Module &module, Device &device, uint32_t target,
                   std::vector<DeviceMemory> &weights, MemoryMap &map);

} // namespace gist

#endif // GIST_RUNTIME_SESSION_WEIGHTMEMORY_H
