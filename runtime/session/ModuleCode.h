//===- ModuleCode.h - Code of a module, where it may run --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_MODULECODE_H
#define GIST_RUNTIME_SESSION_MODULECODE_H

#include "runtime/device/Device.h"
#include "runtime/module/Trust.h"

namespace gist {

/// Loads the code of a target. Nothing of it is mapped, let alone run, unless
/// the module is known here or the caller says `trust`. This is the only caller
/// of Device::loadCode.
inline Status loadModuleCode(const Module &module, uint32_t target, bool trust,
                             Device &device,
                             std::unique_ptr<DeviceCode> &code) {
  if (!trust)
    GIST_TRY(checkTrusted(module));
  return device.loadCode(module.spec(), target, module.code(target), code);
}

} // namespace gist

#endif // GIST_RUNTIME_SESSION_MODULECODE_H
