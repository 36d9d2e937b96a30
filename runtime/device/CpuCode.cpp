//===- CpuCode.cpp - Machine code of a module, loaded ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CpuCode.h"

#include "runtime/device/CpuElf.h"

#include <cerrno>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace gist;

/// The code is unloaded first: while it is loaded, glibc identifies it by the
/// path of the descriptor, which must not be reused for another module.
CpuCode::~CpuCode() {
  if (handle)
    ::dlclose(handle);
  if (descriptor >= 0)
    ::close(descriptor);
}

/// Loads a shared object from memory, through an anonymous file.
Status CpuCode::open(Bytes code) {
  descriptor = ::memfd_create("gist-code", MFD_CLOEXEC);
  if (descriptor < 0)
    return Status::error(Code::Io, "cannot make an anonymous file: %s",
                         std::strerror(errno));
  for (uint64_t done = 0; done < code.size;) {
    ssize_t count = ::write(descriptor, code.data + done, code.size - done);
    if (count >= 0)
      done += static_cast<uint64_t>(count);
    else if (errno != EINTR)
      return Status::error(Code::Io, "cannot write an anonymous file: %s",
                           std::strerror(errno));
  }
  std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  // RTLD_NOW: a symbol that is missing fails here, not in the middle of a run.
  // RTLD_LOCAL keeps the kernels of two modules apart.
  handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return Status::error(Code::BadFile, "cannot load the code: %s",
                         ::dlerror());
  return {};
}

Status CpuCode::load(const ModuleSpec &spec, uint32_t target, Bytes code,
                     std::unique_ptr<CpuCode> &result) {
  std::set<std::string> functions;
  GIST_TRY(checkCpuElf(code, functions));
  // Symbols that the metadata names must be defined by the code itself.
  for (const KernelSpec &kernel : spec.kernels)
    for (const KernelCode &part : kernel.code)
      if (part.target == target && !functions.contains(part.symbol))
        return Status::error(Code::BadFile,
                             "kernel '%s': the code has no symbol '%s'",
                             kernel.name.c_str(), part.symbol.c_str());
  std::unique_ptr<CpuCode> loaded(new CpuCode());
  GIST_TRY(loaded->open(code));
  for (const KernelSpec &kernel : spec.kernels) {
    Kernel function = nullptr;
    for (const KernelCode &part : kernel.code) {
      if (part.target != target)
        continue;
      function = reinterpret_cast<Kernel>(
          ::dlsym(loaded->handle, part.symbol.c_str()));
      if (!function)
        return Status::error(Code::BadFile,
                             "kernel '%s': the code has no symbol '%s'",
                             kernel.name.c_str(), part.symbol.c_str());
    }
    // A kernel without code for this target takes a place too: the numbers are
    // those of the module.
    loaded->kernels.push_back(function);
  }
  result = std::move(loaded);
  return {};
}
