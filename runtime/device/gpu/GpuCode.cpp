//===- GpuCode.cpp - Kernels of a module on a card ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/gpu/GpuCode.h"

#include <cinttypes>

using namespace gist;

GpuCode::~GpuCode() {
  // Kernels that still run must be over before their code goes.
  if (device.settle() && module)
    device.driver->call.unloadModule(module);
}

Status GpuCode::find(const KernelSpec &spec, const KernelCode &code) {
  const GpuDriver &driver = *device.driver;
  if (code.sharedMemory > device.card.sharedMemory)
    return Status::error(Code::Unsupported,
                         "kernel '%s' needs %u bytes of shared memory, but a "
                         "workgroup of %s may have only %" PRIu64,
                         spec.name.c_str(), code.sharedMemory,
                         device.card.name.c_str(), device.card.sharedMemory);
  Kernel &kernel = kernels.back();
  auto findSymbol = [&](const std::string &symbol, GpuHandle &function) {
    GIST_TRY(driver.check(
        driver.call.findFunction(&function, module, symbol.c_str()),
        ("find the symbol '" + symbol + "'").c_str()));
    return driver.allowSharedMemory(function, code.sharedMemory);
  };
  GIST_TRY(findSymbol(code.symbol, kernel.function)
               .in("kernel '" + spec.name + "'"));
  if (!code.byTable.empty())
    GIST_TRY(findSymbol(code.byTable, kernel.byTable)
                 .in("kernel '" + spec.name + "'"));
  kernel.block = code.workgroup;
  kernel.sharedMemory = code.sharedMemory;
  kernel.waits = code.waits;
  return {};
}

Status GpuCode::load(GpuDevice &device, const ModuleSpec &spec, uint32_t target,
                     Bytes code, std::unique_ptr<DeviceCode> &result) {
  std::unique_ptr<GpuCode> loaded(new GpuCode(device));
  GIST_TRY(device.enter());
  GIST_TRY(device.driver->loadModule(code, loaded->module));
  for (const KernelSpec &kernel : spec.kernels) {
    loaded->kernels.push_back({.name = kernel.name});
    for (const KernelCode &part : kernel.code)
      if (part.target == target)
        GIST_TRY(loaded->find(kernel, part));
  }
  result = std::move(loaded);
  return {};
}

Status GpuDevice::loadCode(const ModuleSpec &spec, uint32_t target, Bytes code,
                           std::unique_ptr<DeviceCode> &result) {
  const std::string name = "target '" + spec.targets[target].name + "'";
  GIST_TRY(supports(spec.targets[target]).in(name));
  return GpuCode::load(*this, spec, target, code, result).in(name);
}
