//===- GistTileAttrs.td - Choices that passes obey ---------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TILE_ATTRS
#define GIST_TILE_ATTRS

include "dialect/GistEnum.td"
include "mlir/IR/Interfaces.td"

def Gist_Instruction : Gist_Enum<"Instruction", "instruction",
    "the instruction that multiplies and accumulates", [
  I32EnumAttrCase<"Fma", 0, "fma">,           // f32 lanes
  I32EnumAttrCase<"Smmla", 1, "smmla">,       // Arm i8mm: 2x8 by 8x2
  I32EnumAttrCase<"Sdot", 2, "sdot">,         // Arm dotprod: 4 lanes of 4
  I32EnumAttrCase<"Vpdpbusd", 3, "vpdpbusd">, // x86 VNNI: lanes of 4
  I32EnumAttrCase<"Widen", 4, "widen">,       // any target: extend, multiply
  I32EnumAttrCase<"Mfma32x32x8", 5, "mfma_32x32x8">,     // gfx942: a wave
  I32EnumAttrCase<"Mfma16x16x16", 6, "mfma_16x16x16">,   // gfx942: a wave
  I32EnumAttrCase<"Mfma32x32x16", 7, "mfma_32x32x16">,   // gfx942: 8 bits
  I32EnumAttrCase<"Mma16x8x16", 8, "mma_16x8x16">,       // sm_80: a warp
  I32EnumAttrCase<"Wgmma64x128x16", 9, "wgmma_64x128x16">, // sm_90a: 4 warps
  I32EnumAttrCase<"Bfmmla", 10, "bfmmla">,    // Arm bf16: 2x4 by 4x2
  I32EnumAttrCase<"Tdpbsud", 11, "tdpbsud">,  // x86 AMX: 16x64 by 64x16
  I32EnumAttrCase<"Vpmaddubsw", 12, "vpmaddubsw">, // x86 AVX2: lanes of 2
]>;
def Gist_InstructionAttr : Gist_EnumAttr<Gist_Instruction>;

//===----------------------------------------------------------------------===//
// What all families have
//===----------------------------------------------------------------------===//

def Gist_CpuTileInterface : AttrInterface<"CpuTileInterface"> {
  let cppNamespace = "::gist";
  let description = "The numbers by which a kernel of a CPU is cut.";
  let methods = [
    InterfaceMethod<"f32 numbers in a vector", "int64_t", "getLanes">,
  ];
}

def Gist_GpuTileInterface : AttrInterface<"GpuTileInterface"> {
  let cppNamespace = "::gist";
  let description = "The numbers by which a kernel of a GPU is cut.";
  let methods = [
    InterfaceMethod<"waves of a workgroup", "int64_t", "getNumWaves">,
  ];
}

class Gist_TileFamily<string name, string keyword, AttrInterface interface>
    : AttrDef<Gist_Dialect, name, [interface]> {
  let mnemonic = keyword;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// CPUs
//===----------------------------------------------------------------------===//

def Gist_CpuRowsAttr
    : Gist_TileFamily<"CpuRows", "cpu_rows", Gist_CpuTileInterface> {
  let summary = "how a kernel on whole rows is cut for a CPU";
  let description = [{
    Written on a kernel function as `gist.tile` by `-gist-select-tile-config` and
    obeyed by every pass after it, as are all families. Selections and updates of
    a cache of clusters have it as well: they cut themselves and obey `lanes`.

    - `rows`: rows of the result that one workgroup computes, which is a task of
      the thread pool.
    - `lanes`: f32 numbers in a vector.

    ```mlir
    #gist.cpu_rows<rows = 4, lanes = 4>
    ```

    Constraints:
      * (C1) `rows` is positive, and `lanes` is a power of two.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$lanes);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Gist_CpuProductAttr
    : Gist_TileFamily<"CpuProduct", "cpu_product", Gist_CpuTileInterface> {
  let summary = "how a product is cut for a CPU";
  let description = [{
    - `rows`, `columns`: the part of the result that one workgroup computes.
    - `registers`: the rows and columns of that which stay in registers while the
      reduction runs.
    - `lanes`: f32 numbers in a vector.
    - `instruction`: what multiplies: `fma` for f32; `smmla`, `sdot`, `vpdpbusd`,
      `tdpbsud`, `vpmaddubsw` or `widen` for 8 bits.

    ```mlir
    #gist.cpu_product<rows = 32, columns = 64, registers = [8, 4], lanes = 4,
                      instruction = smmla>
    ```

    Constraints:
      * (C1) sizes are positive, and `lanes` is a power of two.
      * (C2) `registers` are two positive numbers.
      * (C3) the instruction is one of those above.
      * (C4) `smmla` multiplies pairs: `registers` are even, or one row.
      * (C5) `tdpbsud` multiplies up to 16 rows with 16 columns: `registers` are at
        most 16 rows and 16 columns, and `lanes` is 16.
      * (C6) `vpmaddubsw` has vectors of 8 or 16 `lanes`.
  }];
  let parameters = (ins
    "int64_t":$rows, "int64_t":$columns,
    ArrayRefParameter<"int64_t">:$registers,
    "int64_t":$lanes,
    "::gist::Instruction":$instruction
  );
  let assemblyFormat = [{
    `<` `rows` `=` $rows `,` `columns` `=` $columns `,`
        `registers` `=` `[` $registers `]` `,`
        `lanes` `=` $lanes `,` `instruction` `=` $instruction `>`
  }];
}

def Gist_CpuAttentionAttr
    : Gist_TileFamily<"CpuAttention", "cpu_attention", Gist_CpuTileInterface> {
  let summary = "how attention is cut for a CPU";
  let description = [{
    A workgroup has some queries of one KV head, each with all query heads that
    share it.

    - `queries`: queries of a workgroup.
    - `keys`: keys of a step.
    - `registers`: rows, each a query and a head, whose sums stay in registers.
    - `lanes`: f32 numbers in a vector.
    - `instruction`: `fma`, or `bfmmla` where f16 and bf16 are multiplied in bf16.

    ```mlir
    #gist.cpu_attention<queries = 32, keys = 64, registers = 4, lanes = 4,
                        instruction = fma>
    ```

    Constraints:
      * (C1) sizes are positive, and `lanes` is a power of two.
      * (C2) the instruction is `fma` or `bfmmla`.
      * (C3) `keys` is a multiple of 4, which are scored at once; for `bfmmla`, of 8.
      * (C4) `bfmmla` multiplies pairs of rows: `registers` is even.
      * (C5) `registers` is at most 32.
  }];
  let parameters = (ins
    "int64_t":$queries, "int64_t":$keys, "int64_t":$registers,
    "int64_t":$lanes, "::gist::Instruction":$instruction
  );
  let assemblyFormat = "`<` struct(params) `>`";
}

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

def Gist_GpuRowsAttr
    : Gist_TileFamily<"GpuRows", "gpu_rows", Gist_GpuTileInterface> {
  let summary = "how a kernel on whole rows is cut for a GPU";
  let description = [{
    With `columns`, a workgroup computes that part of so many rows, and its
    threads share nothing. Without, it reduces whole rows: each row has one wave,
    or all waves have one row. Sampling has one row of logits.

    - `rows`, `columns`: the part of the result that one workgroup computes.
    - `waves`: waves of a workgroup.

    ```mlir
    #gist.gpu_rows<rows = 4, waves = 4>
    #gist.gpu_rows<rows = 2, waves = 4, columns = 512>
    ```

    Constraints:
      * (C1) sizes are positive.
      * (C2) without `columns`, there is one row, or a wave for each.
  }];
  let parameters = (ins
    "int64_t":$rows, "int64_t":$num_waves,
    DefaultValuedParameter<"int64_t", "0">:$columns
  );
  let assemblyFormat = [{
    `<` `rows` `=` $rows `,` `waves` `=` $num_waves
        (`,` `columns` `=` $columns^)? `>`
  }];
  let extraClassDeclaration = [{
    /// Whether a row is reduced by the waves that have it.
    bool hasWholeRows() const { return getColumns() == 0; }
  }];
}

def Gist_GpuProductAttr
    : Gist_TileFamily<"GpuProduct", "gpu_product", Gist_GpuTileInterface> {
  let summary = "how a product by matrix instructions is cut for a GPU";
  let description = [{
    - `rows`, `columns`: the tile of the result that one workgroup computes.
    - `depth`: how much of the reduction is staged in workgroup memory at once.
    - `waves`: how waves share the tile, along rows and along columns.
    - `stages`: parts of the reduction that are in flight or staged at once.
    - `instruction`: what multiplies: `mfma_32x32x8` or `mfma_16x16x16` on gfx942,
      `mma_16x8x16` or `wgmma_64x128x16` on sm_90.
    - `element`: what is multiplied; sums are f32, of i8 within a block i32.

    ```mlir
    #gist.gpu_product<rows = 128, columns = 128, depth = 32, waves = [2, 2],
                      stages = 2, instruction = mfma_32x32x8, element = f16>
    ```

    Constraints:
      * (C1) sizes are positive.
      * (C2) `waves` are two positive numbers.
      * (C3) the instruction is one of those above.
      * (C4) `element` is f16 or bf16; but for `mma`, it may also be i8 and the
        float of 8 bits that the GPU multiplies, f8E4M3FN for `wgmma` and
        f8E4M3FNUZ for `mfma`.
      * (C5) waves fill the tile: each has whole fragments of the instruction, of
        16 x 16 x 16 for `mma`, 32 x 32 x 16 for `mfma_32x32x8` and 16 x 16 x 32 for
        `mfma_16x16x16`. Four waves along the rows together have 64 rows and a
        multiple of 8 columns for `wgmma`, whose depth is 64; an instruction has
        as many of these columns as it can, up to 256. For 8 bits instructions and
        fragments are twice as deep, and for i8 `wgmma` has a multiple of 32
        columns.
      * (C6) there are two stages or more; for `wgmma`, three.
  }];
  let parameters = (ins
    "int64_t":$rows, "int64_t":$columns, "int64_t":$depth,
    ArrayRefParameter<"int64_t">:$waves,
    "int64_t":$stages,
    "::gist::Instruction":$instruction,
    "::mlir::Type":$element
  );
  let assemblyFormat = [{
    `<` `rows` `=` $rows `,` `columns` `=` $columns `,` `depth` `=` $depth `,`
        `waves` `=` `[` $waves `]` `,` `stages` `=` $stages `,`
        `instruction` `=` $instruction `,` `element` `=` $element `>`
  }];
  let extraClassDeclaration = [{
    int64_t getNumWaves() const { return getWaves()[0] * getWaves()[1]; }
    /// Rows and columns.
    std::array<int64_t, 2> getShape() const {
      return {getRows(), getColumns()};
    }
  }];
}

def Gist_GpuGemvAttr
    : Gist_TileFamily<"GpuGemv", "gpu_gemv", Gist_GpuTileInterface> {
  let summary = "how a product of few rows is cut for a GPU";
  let description = [{
    - `rows`: the rows of x; with `matrix` their number is known at run time, and
      this is the most there are.
    - `columns`: rows of W, which are columns of the result, of a workgroup.
    - `lanes`: neighbouring lanes that share a row of W.
    - `waves`: how waves share the work: those that have other rows of W, and
      those that share the reduction.
    - `steps`: pieces of each row of W that a lane reads at once.
    - `matrix`: whether matrix instructions multiply, and not lanes one by one.

    ```mlir
    #gist.gpu_gemv<rows = 1, columns = 16, lanes = 64, waves = [4, 1], steps = 2>
    #gist.gpu_gemv<rows = 16, columns = 16, lanes = 4, waves = [1, 4], steps = 5,
                   matrix = true>
    ```

    Constraints:
      * (C1) sizes are positive.
      * (C2) `waves` are two positive numbers.
      * (C3) `lanes` is a power of two.
  }];
  let parameters = (ins
    "int64_t":$rows, "int64_t":$columns, "int64_t":$lanes,
    ArrayRefParameter<"int64_t">:$waves,
    "int64_t":$steps, DefaultValuedParameter<"bool", "false">:$matrix
  );
  let assemblyFormat = [{
    `<` `rows` `=` $rows `,` `columns` `=` $columns `,` `lanes` `=` $lanes `,`
        `waves` `=` `[` $waves `]` `,` `steps` `=` $steps
        (`,` `matrix` `=` $matrix^)? `>`
  }];
  let extraClassDeclaration = [{
    int64_t getNumWaves() const { return getWaves()[0] * getWaves()[1]; }
  }];
}

def Gist_GpuGatedAttr
    : Gist_TileFamily<"GpuGated", "gpu_gated", Gist_GpuTileInterface> {
  let summary = "how a gated projection of few tokens is cut for a GPU";
  let description = [{
    - `columns`: columns of the widest result that one workgroup computes.
    - `waves`: waves of a workgroup.
    - `steps`: pieces of each row of W that a lane reads at once.

    ```mlir
    #gist.gpu_gated<columns = 16, waves = 8, steps = 2>
    ```

    Constraints:
      * (C1) sizes are positive.
  }];
  let parameters = (ins
    "int64_t":$columns, "int64_t":$num_waves, "int64_t":$steps
  );
  let assemblyFormat = [{
    `<` `columns` `=` $columns `,` `waves` `=` $num_waves `,`
        `steps` `=` $steps `>`
  }];
}

def Gist_GpuAttentionAttr
    : Gist_TileFamily<"GpuAttention", "gpu_attention", Gist_GpuTileInterface> {
  let summary = "how attention of many queries is cut for a GPU";
  let description = [{
    A workgroup has rows of one KV head: a row is a query and one of the query
    heads that share the KV head.

    - `rows`: rows of a workgroup.
    - `keys`: keys of a step.
    - `waves`: waves of a workgroup, which share its rows.
    - `stages`: steps whose keys are in flight or staged at once.
    - `instruction`: what multiplies, one of those of `#gist.gpu_product`.
    - `element`: what is multiplied; sums are f32.

    ```mlir
    #gist.gpu_attention<rows = 128, keys = 64, waves = 4, stages = 2,
                        instruction = mfma_32x32x8, element = f16>
    ```

    Constraints:
      * (C1) sizes are positive.
      * (C2) the instruction is one of those of `#gist.gpu_product`.
      * (C3) `element` is f16 or bf16.
      * (C4) waves fill the rows with whole fragments of the instruction. Four
        waves have 64 rows for `wgmma`, and no others.
      * (C5) `keys` are whole fragments, as columns and as depth; for `wgmma`, a
        multiple of 64 up to 256.
      * (C6) there are two stages; `mma_16x8x16` may have more.
  }];
  let parameters = (ins
    "int64_t":$rows, "int64_t":$keys, "int64_t":$num_waves, "int64_t":$stages,
    "::gist::Instruction":$instruction, "::mlir::Type":$element
  );
  let assemblyFormat = [{
    `<` `rows` `=` $rows `,` `keys` `=` $keys `,` `waves` `=` $num_waves `,`
        `stages` `=` $stages `,` `instruction` `=` $instruction `,`
        `element` `=` $element `>`
  }];
}

def Gist_GpuDecodeAttr
    : Gist_TileFamily<"GpuDecode", "gpu_decode", Gist_GpuTileInterface> {
  let summary = "how attention of one query is cut for a GPU";
  let description = [{
    A workgroup reads all keys of a head.

    - `waves`: waves of a workgroup, which share its keys.

    ```mlir
    #gist.gpu_decode<waves = 8>
    ```

    Constraints:
      * (C1) `waves` is a power of two.
  }];
  let parameters = (ins "int64_t":$num_waves);
  let assemblyFormat = "`<` `waves` `=` $num_waves `>`";
}

def Gist_GpuSelectionAttr
    : Gist_TileFamily<"GpuSelection", "gpu_selection", Gist_GpuTileInterface> {
  let summary = "how a selection is cut for a GPU";
  let description = [{
    A workgroup computes tiles of the Gram matrix: some tokens against others.

    - `rows`, `columns`: tokens of a tile.
    - `depth`: how much of a token's row is staged in workgroup memory at once.
    - `waves`: how waves share the tile, along rows and along columns.
    - `stages`: parts of the rows that are in flight or staged at once.
    - `instruction`: what multiplies, one of those of `#gist.gpu_product`, or
      `mfma_32x32x16` for 8 bits.
    - `element`: what is multiplied; sums are f32. Rows of f32 are multiplied as
      two f16 each; with f8E4M3FNUZ they are rounded to 8 bits.
    - `group`: rows of tiles that are visited together, column by column, so that
      both sides stay in the cache.
    - `loads`: loads that a thread has in flight together while one workgroup
      decides what comes next.

    ```mlir
    #gist.gpu_selection<rows = 128, columns = 256, depth = 32, waves = [2, 2],
                        stages = 2, instruction = mfma_32x32x8, element = f16,
                        group = 8, loads = 8>
    ```

    Constraints:
      * (C1) sizes are positive.
      * (C2) `waves` are two positive numbers.
      * (C3) the instruction is one of those above.
      * (C4) `element` is f8E4M3FNUZ for `mfma_32x32x16`, and f16 or bf16 for others.
      * (C5) waves fill the tile, as they do for `#gist.gpu_product`; fragments of
        `mfma_32x32x16` are 32 x 32 x 32.
      * (C6) `mma_16x8x16` has two stages or more, and `wgmma_64x128x16` three.
      * (C7) one of `rows` and `columns` is a multiple of the other, and `columns`
        is one of 32: results are words of bits.
  }];
  let parameters = (ins
    "int64_t":$rows, "int64_t":$columns, "int64_t":$depth,
    ArrayRefParameter<"int64_t">:$waves,
    "int64_t":$stages,
    "::gist::Instruction":$instruction,
    "::mlir::Type":$element,
    "int64_t":$group, "int64_t":$loads
  );
  let assemblyFormat = [{
    `<` `rows` `=` $rows `,` `columns` `=` $columns `,` `depth` `=` $depth `,`
        `waves` `=` `[` $waves `]` `,` `stages` `=` $stages `,`
        `instruction` `=` $instruction `,` `element` `=` $element `,`
        `group` `=` $group `,` `loads` `=` $loads `>`
  }];
  let extraClassDeclaration = [{
    int64_t getNumWaves() const { return getWaves()[0] * getWaves()[1]; }
    /// Rows and columns.
    std::array<int64_t, 2> getShape() const {
      return {getRows(), getColumns()};
    }
  }];
}

def Gist_GpuClustersAttr
    : Gist_TileFamily<"GpuClusters", "gpu_clusters", Gist_GpuTileInterface> {
  let summary = "how an update of a cache of clusters is cut for a GPU";
  let description = [{
    A workgroup compares new tokens with clusters.

    - `tokens`, `clusters`: those in workgroup memory at once.
    - `columns`: numbers of each of them there; zeros follow a shorter row.
    - `waves`: waves of a workgroup, which share its tokens.
    - `instruction`: what multiplies f16 and bf16. With f32 it says only how
      waves share the tile: f32 is multiplied as it is.
    - `element`: what tokens and clusters are stored in.

    ```mlir
    #gist.gpu_clusters<tokens = 128, clusters = 64, columns = 64, waves = 4,
                       instruction = mfma_32x32x8, element = f16>
    ```

    Constraints:
      * (C1) sizes are positive.
      * (C2) the instruction is one that a wave executes alone: `mfma_32x32x8`,
        `mfma_16x16x16` or `mma_16x8x16`.
      * (C3) `element` is f16, bf16 or f32.
      * (C4) each wave has one fragment of the tokens; `clusters` and, but for f32,
        `columns` are whole fragments. f32 is moved four numbers at once.
  }];
  let parameters = (ins
    "int64_t":$tokens, "int64_t":$clusters, "int64_t":$columns,
    "int64_t":$num_waves, "::gist::Instruction":$instruction,
    "::mlir::Type":$element
  );
  let assemblyFormat = [{
    `<` `tokens` `=` $tokens `,` `clusters` `=` $clusters `,`
        `columns` `=` $columns `,` `waves` `=` $num_waves `,`
        `instruction` `=` $instruction `,` `element` `=` $element `>`
  }];
}

#endif // GIST_TILE_ATTRS
