//===- CpuFeatures.h - What this CPU can execute ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_DEVICE_CPUFEATURES_H
#define GIST_RUNTIME_DEVICE_CPUFEATURES_H

#include "runtime/support/Status.h"

#include <string>
#include <vector>

namespace gist {

/// "aarch64" or "x86_64", as a target triple begins.
const char *hostArchitecture();

/// The model name that the operating system shows.
std::string hostCpuName();

/// LLVM names of the features that code for this architecture may require and
/// that this CPU has, in the order of runtime/format/CpuFeatures.def.
std::vector<std::string> hostCpuFeatures();

/// Ok when the CPU has all of them; otherwise a sentence that names those
/// missing. A name this runtime does not know counts as missing. For AMX it
/// also asks the operating system's permission, which lasts as long as the
/// process.
Status checkCpuFeatures(const std::vector<std::string> &required);

} // namespace gist

#endif // GIST_RUNTIME_DEVICE_CPUFEATURES_H
