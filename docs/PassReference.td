//===- PassReference.td - What docs/passes.md is made of ---*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "passes/Import/RaisePasses.td"
include "passes/Passes.td"
