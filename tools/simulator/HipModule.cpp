//===- HipModule.cpp - Modules and launches -------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Modules, launches, and kernel nodes of graphs. A hipFunction_t is a pointer
// to a Kernel, a hipModule_t one to a HipModule.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Hip.h"

#include "llvm/BinaryFormat/ELF.h"

#include <algorithm>
#include <cstring>

using namespace gist::sim;

/// The size of the file: hipModuleLoadData gets none, but the ELF headers have
/// it.
static uint64_t elfSize(const void *image) {
  llvm::ELF::Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  if (!header.checkMagic() || header.getFileClass() != llvm::ELF::ELFCLASS64)
    return 0;
  // Whichever ends last: the section headers or a segment.
  uint64_t size =
      header.e_shoff + uint64_t(header.e_shnum) * header.e_shentsize;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    llvm::ELF::Elf64_Phdr segment;
    std::memcpy(&segment,
                static_cast<const uint8_t *>(image) + header.e_phoff +
                    uint64_t(i) * header.e_phentsize,
                sizeof(segment));
    size = std::max<uint64_t>(size, segment.p_offset + segment.p_filesz);
  }
  return size;
}

GIST_HIP_API hipError_t hipModuleLoadData(HipModule **module,
                                          const void *image) {
  if (!module || !image)
    return fail(hipErrorInvalidValue);
  HipState &state = hipState();
  std::lock_guard lock(state.mutex);
  uint64_t size = elfSize(image);
  if (size == 0)
    return fail(hipErrorInvalidImage);
  std::string error;
  // The image is copied: the caller may free it after this call.
  auto object = CodeObject::load(image, size, state.memory, error);
  if (!object) {
    state.report = error;
    return fail(hipErrorNoBinaryForGpu);
  }
  // Owned by the caller until hipModuleUnload. Kernels point into it.
  *module = new HipModule{std::move(object)};
  return hipSuccess;
}

GIST_HIP_API hipError_t hipModuleUnload(HipModule *module) {
  if (!module)
    return fail(hipErrorInvalidHandle);
  std::lock_guard lock(hipState().mutex);
  delete module;
  return hipSuccess;
}

GIST_HIP_API hipError_t hipModuleGetFunction(const Kernel **function,
                                             HipModule *module,
                                             const char *name) {
  if (!function || !module || !name)
    return fail(hipErrorInvalidValue);
  *function = module->object->findKernel(name);
  return fail(*function ? hipSuccess : hipErrorNotFound);
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

/// Arguments one by one, placed as the kernel's metadata says.
/// The sizes of the arguments come from the metadata; HIP passes pointers only.
static std::vector<uint8_t> packParameters(const Kernel &kernel,
                                           void **parameters) {
  std::vector<uint8_t> bytes;
  size_t next = 0;
  for (const KernelArgument &argument : kernel.arguments) {
    // The launch fills these itself.
    if (argument.isHidden())
      continue;
    bytes.resize(
        std::max<size_t>(bytes.size(), argument.offset + argument.size));
    std::memcpy(bytes.data() + argument.offset, parameters[next++],
                argument.size);
  }
  return bytes;
}

/// The `extra` array: a buffer that is the kernarg segment already.
static bool unpackExtra(void **extra, std::vector<uint8_t> &bytes) {
  const void *buffer = nullptr;
  size_t size = 0;
  for (; extra[0] != reinterpret_cast<void *>(3); extra += 2) { // END
    if (extra[0] == reinterpret_cast<void *>(1)) // BUFFER_POINTER
      buffer = extra[1];
    else if (extra[0] == reinterpret_cast<void *>(2)) // BUFFER_SIZE
      size = *static_cast<const size_t *>(extra[1]);
    else
      return false;
  }
  if (!buffer && size)
    return false;
  const auto *begin = static_cast<const uint8_t *>(buffer);
  bytes.assign(begin, begin + size);
  return true;
}

/// A launch that is ready to run, now or by a graph.
/// Arguments are copied now, because HIP lets the caller reuse them after the
/// launch call.
static hipError_t makeLaunch(LaunchRequest request, void **parameters,
                             void **extra, std::function<hipError_t()> &work) {
  if (!request.kernel)
    return fail(hipErrorInvalidHandle);
  if (!request.workgroups.count() || !request.workgroupSize.count())
    return fail(hipErrorInvalidConfiguration);
  if (extra) {
    if (parameters || !unpackExtra(extra, request.arguments))
      return fail(hipErrorInvalidValue);
  } else if (parameters) {
    request.arguments = packParameters(*request.kernel, parameters);
  }
  // Runs under the state's mutex, which submit() holds.
  work = [request = std::move(request)]() {
    HipState &state = hipState();
    // A launch after a failure does not run, as on a card.
    if (state.failed)
      return fail(hipErrorLaunchFailure);
    std::string error =
        launch(request, state.memory, state.config, state.counters);
    if (error.empty())
      return hipSuccess;
    state.report = error;
    state.failed = true;
    return fail(hipErrorLaunchFailure);
  };
  return hipSuccess;
}

GIST_HIP_API hipError_t hipModuleLaunchKernel(
    const Kernel *function, unsigned gridX, unsigned gridY, unsigned gridZ,
    unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
    HipStream *stream, void **parameters, void **extra) {
  LaunchRequest request;
  request.kernel = function;
  request.workgroups = {gridX, gridY, gridZ};
  request.workgroupSize = {blockX, blockY, blockZ};
  request.dynamicLds = sharedBytes;
  std::function<hipError_t()> work;
  if (hipError_t error = makeLaunch(request, parameters, extra, work))
    return error;
  return submit(stream, std::move(work));
}

namespace {
/// The fields and their order are HIP's hipKernelNodeParams.
struct HipKernelNodeParams {
  Dim3 blockDim;
  void **extra;
  const Kernel *func; ///< As a hipFunction_t; host functions do not exist here.
  Dim3 gridDim;
  void **kernelParams;
  unsigned sharedMemBytes;
};
} // namespace

/// Nodes run in the order they are added. Dependencies are nodes that exist, so
/// that order obeys them.
GIST_HIP_API hipError_t hipGraphAddKernelNode(
    HipGraphNode *node, HipGraph *graph, const HipGraphNode *dependencies,
    size_t dependencyCount, const HipKernelNodeParams *parameters) {
  if (!node || !graph || !parameters || (dependencyCount && !dependencies))
    return fail(hipErrorInvalidValue);
  // A node is its number, counted from 1; null means no node.
  for (size_t i = 0; i < dependencyCount; ++i) {
    auto number = reinterpret_cast<uintptr_t>(dependencies[i]);
    if (number == 0 || number > graph->size())
      return fail(hipErrorInvalidValue);
  }
  LaunchRequest request;
  request.kernel = parameters->func;
  request.workgroups = parameters->gridDim;
  request.workgroupSize = parameters->blockDim;
  request.dynamicLds = parameters->sharedMemBytes;
  std::function<hipError_t()> work;
  if (hipError_t error = makeLaunch(request, parameters->kernelParams,
                                    parameters->extra, work))
    return error;
  graph->push_back(std::move(work));
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  *node = reinterpret_cast<HipGraphNode>(graph->size());
  return hipSuccess;
}
