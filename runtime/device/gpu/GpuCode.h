//===- GpuCode.h - Kernels of a module on a card ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_DEVICE_GPU_GPUCODE_H
#define GIST_RUNTIME_DEVICE_GPU_GPUCODE_H

#include "runtime/device/gpu/GpuDevice.h"

namespace gist {

class GpuCode final : public DeviceCode {
public:
  struct Kernel {
    GpuHandle function = nullptr; ///< null: none for this target
    GpuHandle byTable = nullptr;  ///< null: none
    std::array<uint32_t, 3> block = {1, 1, 1};
    uint32_t sharedMemory = 0;
    bool waits = false; ///< itself, for the kernels before it
    std::string name;
  };

  static Status load(GpuDevice &device, const ModuleSpec &spec, uint32_t target,
                     Bytes code, std::unique_ptr<DeviceCode> &result);
  ~GpuCode() override;
  GpuCode(const GpuCode &) = delete;
  GpuCode &operator=(const GpuCode &) = delete;

  const Kernel &kernel(uint32_t number) const { return kernels[number]; }

private:
  explicit GpuCode(GpuDevice &device) : device(device) {}
  Status find(const KernelSpec &spec, const KernelCode &code);

  GpuDevice &device;
  GpuHandle module = nullptr;
  std::vector<Kernel> kernels; ///< as in the module
};

/// A command list as a graph that is ready to be launched.
class GpuRecording final : public Recording {
public:
  explicit GpuRecording(GpuDevice &device) : device(device) {}
  ~GpuRecording() override;
  GpuRecording(const GpuRecording &) = delete;
  GpuRecording &operator=(const GpuRecording &) = delete;

  Status build(const CommandList &list);
  Status launch();

private:
  Status addNodes(const CommandList &list, GpuHandle graph);

  GpuDevice &device;
  GpuHandle executable = nullptr; ///< null: the list launches nothing
};

} // namespace gist

#endif // GIST_RUNTIME_DEVICE_GPU_GPUCODE_H
