//===- GistTileAttrs.td - Choices that passes obey ---------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TILE_ATTRS
#define GIST_TILE_ATTRS

include "dialect/GistEnum.td"

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
]>;
def Gist_InstructionAttr : Gist_EnumAttr<Gist_Instruction>;

def Gist_TileAttr : AttrDef<Gist_Dialect, "Tile"> {
  let mnemonic = "tile";
  let summary = "the numbers by which a kernel is cut";
  let description = [{
    Written on a kernel function by `-gist-select-tile-config` and obeyed by
    every pass after it.

    - `workgroup`: the part of the result, rows then columns, that one
      workgroup computes (a task of the thread pool on the CPU); rows then KV
      heads for attention. A kernel that works on whole rows has rows alone.
    - `registers`: the part of that which stays in registers while the
      reduction runs.
    - `lanes`: f32 numbers in a vector.
    - `instruction`: what multiplies.

    ```mlir
    #gist.tile<workgroup = [32, 64], registers = [8, 4], lanes = 4,
               instruction = smmla>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$workgroup,
    ArrayRefParameter<"int64_t">:$registers,
    "int64_t":$lanes,
    "::gist::Instruction":$instruction
  );
  let assemblyFormat = [{
    `<` `workgroup` `=` `[` $workgroup `]` `,`
        `registers` `=` `[` $registers `]` `,`
        `lanes` `=` $lanes `,` `instruction` `=` $instruction `>`
  }];
}

def Gist_GpuTileAttr : AttrDef<Gist_Dialect, "GpuTile"> {
  let mnemonic = "gpu_tile";
  let summary = "the numbers by which a GPU kernel is cut";
  let description = [{
    What `#gist.tile` is for the CPU, for kernels of GPUs.

    - `workgroup`: the part of the result, rows then columns, that one
      workgroup computes; queries then keys of a step for attention. A kernel
      that works on whole rows has rows alone.
    - `depth`: how much of the reduction is staged in workgroup memory at once.
    - `waves`: how waves share the workgroup's part, along rows and columns.
    - `stages`: parts of the reduction that are in flight or staged at once.
    - `instruction`: what multiplies; `fma` where no matrix instruction does.
    - `element`: what is multiplied; sums are f32.

    ```mlir
    #gist.gpu_tile<workgroup = [128, 128], depth = 32, waves = [2, 2],
                   stages = 2, instruction = mfma_32x32x8, element = f16>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$workgroup,
    "int64_t":$depth,
    ArrayRefParameter<"int64_t">:$waves,
    "int64_t":$stages,
    "::gist::Instruction":$instruction,
    "::mlir::Type":$element
  );
  let assemblyFormat = [{
    `<` `workgroup` `=` `[` $workgroup `]` `,` `depth` `=` $depth `,`
        `waves` `=` `[` $waves `]` `,` `stages` `=` $stages `,`
        `instruction` `=` $instruction `,` `element` `=` $element `>`
  }];
}

#endif // GIST_TILE_ATTRS
