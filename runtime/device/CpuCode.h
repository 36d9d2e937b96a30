//===- CpuCode.h - Machine code of a module, loaded -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_DEVICE_CPUCODE_H
#define GIST_RUNTIME_DEVICE_CPUCODE_H

#include "runtime/device/Device.h"

#include <memory>
#include <vector>

namespace gist {

/// A shared object loaded from memory. The code is run as it is: loading a
/// module means trusting it like a program.
class CpuCode final : public DeviceCode {
public:
  /// The calling convention of kernels: argument slots, then the workgroup.
  using Kernel = void (*)(const uint64_t *args, int64_t x, int64_t y,
                          int64_t z);

  /// Loads the code of a target and finds its kernels.
  static Status load(const ModuleSpec &spec, uint32_t target, Bytes code,
                     std::unique_ptr<CpuCode> &result);
  ~CpuCode() override;
  CpuCode(const CpuCode &) = delete;
  CpuCode &operator=(const CpuCode &) = delete;

  /// The kernel with this number in the module; null if the target lacks it,
  /// and then no command of the target uses it.
  Kernel kernel(uint32_t number) const { return kernels[number]; }

private:
  CpuCode() = default;
  Status open(Bytes code);

  /// The anonymous file stays open as long as its code is loaded: dlopen knows
  /// libraries by path, and the next module must not get the same one.
  int descriptor = -1;
  void *handle = nullptr;
  std::vector<Kernel> kernels;
};

} // namespace gist

#endif // GIST_RUNTIME_DEVICE_CPUCODE_H
