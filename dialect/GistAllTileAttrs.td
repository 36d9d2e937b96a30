//===- GistAllTileAttrs.td - Every way to cut a kernel -----*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What GistTileAttrs.cpp defines. Declarations are generated file by file.
//
//===----------------------------------------------------------------------===//

include "dialect/GistCpuTileAttrs.td"
include "dialect/GistTileAttrs.td"
