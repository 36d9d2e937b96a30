//===- CpuFeatures.cpp - Features that code may require -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/format/CpuFeatures.h"

using namespace gist;

static constexpr std::string_view kAarch64[] = {
#define GIST_AARCH64_FEATURE(name, word, bits) name,
#include "runtime/format/CpuFeatures.def"
};

static constexpr std::string_view kX8664[] = {
#define GIST_X86_64_FEATURE(name) name,
#include "runtime/format/CpuFeatures.def"
};

std::span<const std::string_view>
gist::getKnownFeatures(std::string_view architecture) {
  if (architecture == "aarch64")
    return kAarch64;
  if (architecture == "x86_64")
    return kX8664;
  return {};
}
