//===- BuiltInTexts.cpp - Texts that a tool has with it -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of the program, so that it needs no folder of data where it is
// installed.
//
//===----------------------------------------------------------------------===//

#include "tools/planning/BuiltInTexts.h"

using namespace gist::plan;

// Each file is one string literal.
static constexpr std::string_view kProse =
#include "tools/planning/texts/prose.txt"
    ;
static constexpr std::string_view kCode =
#include "tools/planning/texts/code.txt"
    ;
static constexpr std::string_view kHeldOutProse =
#include "tools/planning/texts/held-out-prose.txt"
    ;
static constexpr std::string_view kHeldOutCode =
#include "tools/planning/texts/held-out-code.txt"
    ;

static constexpr BuiltInText kTexts[] = {
    {"prose.txt", kProse, false},
    {"code.txt", kCode, false},
    {"held-out-prose.txt", kHeldOutProse, true},
    {"held-out-code.txt", kHeldOutCode, true},
};

std::span<const BuiltInText> gist::plan::builtInTexts() { return kTexts; }
