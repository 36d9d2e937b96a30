//===- GistCpuTileAttrs.td - More ways to cut for a CPU ----*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Apart from GistTileAttrs.td, which nearly every file includes: few files cut
// kernels for CPUs.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_CPU_TILE_ATTRS
#define GIST_CPU_TILE_ATTRS

include "dialect/GistDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/Interfaces.td"

// The interface of GistTileAttrs.td by its name. Including that file would
// declare its attributes once more.
def Gist_AnyCpuTile : AttrInterface<"CpuTileInterface"> {
  let cppNamespace = "::gist";
}

def Gist_CpuBf16ProductAttr
    : AttrDef<Gist_Dialect, "CpuBf16Product", [Gist_AnyCpuTile]> {
  let mnemonic = "cpu_bf16_product";
  let summary = "how a product in bf16 by tiles of AMX is cut for a CPU";
  let description = [{
    The tile unit multiplies bf16 and adds in f32. A number that bf16 cannot hold
    is the sum of two: the nearest bf16, and the nearest to what is left of it.
    Products of the two rests are left out: they are smaller than 2^-16 of the
    product.

    - `rows`, `columns`: the part of the result that one workgroup computes.
    - `depth`: how much of the reduction a workgroup rearranges at once.
    - `parts`: how many numbers of bf16 stand for one of the rows, and for one of
      the weight.

    ```mlir
    #gist.cpu_bf16_product<rows = 128, columns = 64, depth = 512, parts = [2, 1]>
    ```

    Constraints:
      * (C1) `rows`, `columns` and `depth` are positive multiples of 32: four
        tiles of 16 by 16 sums are kept at once, and a tile is 32 deep.
      * (C2) `parts` are two numbers, each of them 1 or 2.
  }];
  let parameters = (ins
    "int64_t":$rows, "int64_t":$columns, "int64_t":$depth,
    ArrayRefParameter<"int64_t">:$parts
  );
  let assemblyFormat = [{
    `<` `rows` `=` $rows `,` `columns` `=` $columns `,` `depth` `=` $depth `,`
        `parts` `=` `[` $parts `]` `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// f32 numbers in a row of a tile, and in a vector.
    static constexpr int64_t kLanes = 16;
    int64_t getLanes() const { return kLanes; }
  }];
}

def Gist_CpuAmxAttentionAttr
    : AttrDef<Gist_Dialect, "CpuAmxAttention", [Gist_AnyCpuTile]> {
  let mnemonic = "cpu_amx_attention";
  let summary = "how attention in bf16 by tiles of AMX is cut for a CPU";
  let description = [{
    A workgroup has some queries of one KV head, each with all query heads that
    share it. Scaled queries, keys, values and weights of values are rounded to
    bf16; scores and outputs are summed in f32.

    - `queries`: queries of a workgroup.
    - `keys`: keys of a step.

    ```mlir
    #gist.cpu_amx_attention<queries = 32, keys = 64>
    ```

    Constraints:
      * (C1) `queries` is positive.
      * (C2) `keys` is 32 or 64: the tiles of a step's scores are kept at once.
  }];
  let parameters = (ins "int64_t":$queries, "int64_t":$keys);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// f32 numbers in a row of a tile, and in a vector.
    static constexpr int64_t kLanes = 16;
    int64_t getLanes() const { return kLanes; }
  }];
}

#endif // GIST_CPU_TILE_ATTRS
