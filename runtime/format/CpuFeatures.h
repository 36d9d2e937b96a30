//===- CpuFeatures.h - Features that code may require -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_FORMAT_CPUFEATURES_H
#define GIST_RUNTIME_FORMAT_CPUFEATURES_H

#include <span>
#include <string_view>

namespace gist {

/// LLVM names of the features that code for an architecture, "aarch64" or
/// "x86_64", may require; none for others.
std::span<const std::string_view>
getKnownFeatures(std::string_view architecture);

} // namespace gist

#endif // GIST_RUNTIME_FORMAT_CPUFEATURES_H
