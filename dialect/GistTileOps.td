//===- GistTileOps.td - Products of a workgroup ------------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is between a product of tensors and the code of one thread: the steps of
// a workgroup, on tiles. Values are vectors that the threads of the workgroup
// hold together; which thread has which numbers is decided when the ops are
// lowered. Barriers, groups of copies and waits are ops of the gpu and nvvm
// dialects, and workgroup memory is a `memref.alloca`.
//
// Below, x is rows x K, a tile of it is rows x depth, and a buffer has one such
// tile for each of its stages.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TILE_OPS
#define GIST_TILE_OPS

include "dialect/GistTileAttrs.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Gist_TileOperand : TensorRankOf<[AnyFloat, I8], [2]>;
def Gist_TileVector : FixedVectorOfRankAndType<[2], [AnyFloat, I8]>;
def Gist_TileSums : FixedVectorOfRankAndType<[2], [F32, I32]>;
def Gist_TileTotals : FixedVectorOfRankAndType<[2], [F32]>;
def Gist_TileBuffer
    : MemRefRankOf<[F16, BF16, I8, F8E4M3FN, F8E4M3FNUZ], [3]>;

class Gist_TileOp<string mnemonic, list<Trait> traits = []>
    : Op<Gist_Dialect, "tile_" # mnemonic, traits>;

def Gist_TileProductOp : Gist_TileOp<"product", [
    DestinationStyleOpInterface, RecursiveMemoryEffects, SingleBlock,
    TypesMatchWith<"the result has the type of the destination", "init",
                   "result", "$_self">]> {
  let summary = "a product of tensors as the steps of one workgroup";
  let description = [{
    y = x W^T, with x of M x K and W of N x K. The body says what one workgroup
    does for its tile of y, `workgroup` rows and columns that begin at its
    arguments, and yields the tile. Tiles that reach over the end of y are cut
    off there. `waves` is how the waves of the workgroup share the tile, along
    rows and columns. Of the destination the sizes count, not the numbers: what
    follows the product is computed from a tile while it is in registers.

    With `paired`, what follows needs column j of both halves of y at once, such
    as a gate and what it lets through. Column 2j of all tiles together is then
    column j of the first half of y, and column 2j + 1 that of the second one;
    rows of `w` are read in the same order.

    Numbers of 8 bits have `scales`, for each row of x one for each block of k:
    gist.tile_scale adds up the sums of blocks. Those of integers are integers.

    Workgroups may share the k of a tile. The body then has two more arguments,
    the first step along k that is this workgroup's and how many steps it has,
    and yields what these add to the tile.

    ```mlir
    %y = gist.tile_product ins(%x, %w : tensor<?x576xf16>, tensor<192x576xf16>)
        outs(%e : tensor<?x192xf32>) workgroup [128, 64] waves [2, 2] {
    ^bb0(%row: index, %column: index):
      %tx = memref.alloca() : memref<2x128x32xf16, #gpu.address_space<workgroup>>
      ...
      %sums = scf.for %step = ... {
        ...
        %s = gist.tile_multiply %a, %b, %sum with mfma_32x32x8 : ...
      }
      gist.tile_yield %sums : vector<128x64xf32>
    }
    ```

    Constraints:
      * (C1) `x` and `w` have the same static K, and `w` a static N.
      * (C2) the destination is M x N.
      * (C3) `workgroup` and `waves` are two positive numbers each, and waves
        divide the workgroup's tile.
      * (C4) the body has two or four index arguments and yields the
        workgroup's tile.
      * (C5) ops of the body read `x` and `scales` from the first argument on,
        `w` from the second on, and nothing else.
      * (C6) `paired` needs an even N.
      * (C7) `scales` are given where x and W are of 8 bits, and only there.
  }];
  let arguments = (ins
    Gist_TileOperand:$x, Gist_TileOperand:$w,
    Optional<TensorRankOf<[F32], [2]>>:$scales, Gist_TileOperand:$init,
    DenseI64ArrayAttr:$workgroup, DenseI64ArrayAttr:$waves,
    UnitAttr:$paired
  );
  let results = (outs Gist_TileOperand:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `ins` `(` $x `,` $w `:` type($x) `,` type($w) `)`
    (`scales` `(` $scales^ `:` type($scales) `)`)?
    `outs` `(` $init `:` type($init) `)`
    `workgroup` $workgroup `waves` $waves (`paired` $paired^)?
    attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
    /// First row and column of the workgroup's tile.
    ::mlir::BlockArgument getRow() { return getBody().getArgument(0); }
    ::mlir::BlockArgument getColumn() { return getBody().getArgument(1); }
    /// Whether workgroups share the k of a tile.
    bool sharesSteps() { return getBody().getNumArguments() > 2; }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Gist_TileYieldOp : Gist_TileOp<"yield", [
    Pure, Terminator, HasParent<"::gist::TileProductOp">]> {
  let summary = "the tile of a product that a workgroup has computed";
  let arguments = (ins Gist_TileTotals:$sums);
  let assemblyFormat = "$sums attr-dict `:` type($sums)";
}

def Gist_TileFetchOp : Gist_TileOp<"fetch", [Pure]> {
  let summary = "load a tile of an operand into registers";
  let description = [{
    What numbers `k` to `k` + depth of the rows from `row` on are made of. Rows
    past the end repeat the last one; numbers past the end are undefined until
    `gist.tile_stage` replaces them by zeros. An operand that is not memory,
    such as block-quantised weights, is computed: loads are written here, and
    the rest where the tile is staged.

    ```mlir
    %f = gist.tile_fetch %x[%row, %k] : tensor<?x576xf32> -> vector<128x32xf32>
    ```

    Constraints:
      * (C1) `source` has a static K, and numbers of the result's type.
  }];
  let arguments = (ins Gist_TileOperand:$source, Index:$row, Index:$k);
  let results = (outs Gist_TileVector:$result);
  let assemblyFormat = [{
    $source `[` $row `,` $k `]` attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Gist_TileStageOp : Gist_TileOp<"stage"> {
  let summary = "write a tile from registers into workgroup memory";
  let description = [{
    Writes what `gist.tile_fetch` has loaded from the same place into a stage of
    a buffer, rounded to the buffer's type; numbers past the end of k are zero.

    ```mlir
    gist.tile_stage %f of %x[%row, %k] to %tx[%stage] : vector<128x32xf32>,
        tensor<?x576xf32>, memref<2x128x32xf16, #gpu.address_space<workgroup>>
    ```

    Constraints:
      * (C1) `source` has a static K, and numbers of the type of `tile`.
      * (C2) `buffer` is in workgroup memory, and a stage of it has the shape of
        `tile`.
  }];
  let arguments = (ins
    Gist_TileVector:$tile, Gist_TileOperand:$source, Index:$row, Index:$k,
    Arg<Gist_TileBuffer, "", [MemWrite]>:$buffer, Index:$stage
  );
  let assemblyFormat = [{
    $tile `of` $source `[` $row `,` $k `]` `to` $buffer `[` $stage `]` attr-dict
    `:` type($tile) `,` type($source) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def Gist_TileCopyOp : Gist_TileOp<"copy"> {
  let summary = "start to copy a tile of an operand into workgroup memory";
  let description = [{
    The same as `gist.tile_fetch` and `gist.tile_stage`, without registers and
    without waiting: the copy belongs to the group that the next
    `nvvm.cp.async.commit.group` closes, and is there after a wait for that group
    and a barrier. `k` may be past the end; the tile is zero there.

    ```mlir
    gist.tile_copy %x[%row, %k] to %tx[%stage] : tensor<?x576xf16>,
        memref<3x128x64xf16, #gpu.address_space<workgroup>>
    ```

    Constraints:
      * (C1) `source` has a static K, and numbers of the buffer's type.
      * (C2) `buffer` is in workgroup memory.
  }];
  let arguments = (ins
    Gist_TileOperand:$source, Index:$row, Index:$k,
    Arg<Gist_TileBuffer, "", [MemWrite]>:$buffer, Index:$stage
  );
  let assemblyFormat = [{
    $source `[` $row `,` $k `]` `to` $buffer `[` $stage `]` attr-dict
    `:` type($source) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def Gist_TileLoadOp : Gist_TileOp<"load"> {
  let summary = "load a stage of both operands from workgroup memory";
  let description = [{
    Both at once: each wave loads what it multiplies, in the order in which its
    instructions need it.

    ```mlir
    %a, %b = gist.tile_load %tx[%stage], %tw[%stage]
        : memref<2x128x32xf16, #gpu.address_space<workgroup>>,
          memref<2x64x32xf16, #gpu.address_space<workgroup>>
        -> vector<128x32xf16>, vector<64x32xf16>
    ```

    Constraints:
      * (C1) both buffers are in workgroup memory, and the results have the
        shape and type of one stage.
  }];
  let arguments = (ins
    Arg<Gist_TileBuffer, "", [MemRead]>:$x, Index:$stage_x,
    Arg<Gist_TileBuffer, "", [MemRead]>:$w, Index:$stage_w
  );
  let results = (outs Gist_TileVector:$tile_x, Gist_TileVector:$tile_w);
  let assemblyFormat = [{
    $x `[` $stage_x `]` `,` $w `[` $stage_w `]` attr-dict
    `:` type($x) `,` type($w) `->` type($tile_x) `,` type($tile_w)
  }];
  let hasVerifier = 1;
}

def Gist_TileMultiplyOp : Gist_TileOp<"multiply", [
    Pure, AllTypesMatch<["sums", "result"]>]> {
  let summary = "sums + x W^T of two tiles, by instructions of a wave";
  let description = [{
        result[m, n] = sums[m, n] + sum_k x[m, k] * w[n, k]

    Products are summed in f32, in the order of the instruction; those of
    integers as i32.

    ```mlir
    %s = gist.tile_multiply %a, %b, %sums with mfma_32x32x8
        : vector<128x32xf16>, vector<64x32xf16>, vector<128x64xf32>
    ```

    Constraints:
      * (C1) `sums` has a row for each row of `x` and a column for each of `w`,
        which have the same depth and type.
      * (C2) the instruction is one that a wave executes alone: `mfma_32x32x8`,
        `mfma_16x16x16` or `mma_16x8x16`.
  }];
  let arguments = (ins
    Gist_TileVector:$x, Gist_TileVector:$w, Gist_TileSums:$sums,
    Gist_InstructionAttr:$instruction
  );
  let results = (outs Gist_TileSums:$result);
  let assemblyFormat = [{
    $x `,` $w `,` $sums `with` $instruction attr-dict
    `:` type($x) `,` type($w) `,` type($sums)
  }];
  let hasVerifier = 1;
}

def Gist_TileStartOp : Gist_TileOp<"start", [
    AllTypesMatch<["sums", "result"]>]> {
  let summary = "start to multiply two tiles in workgroup memory";
  let description = [{
    What `gist.tile_multiply` computes, by instructions of four warps that read
    workgroup memory themselves and run while others go on. Each op is a group
    of its own: after `nvvm.wgmma.wait.group.sync.aligned` n, at most n of them
    still run. The result may be added to before that, and read after
    `gist.tile_finish`.

    ```mlir
    %s = gist.tile_start %tx[%stage], %tw[%stage], %sums with wgmma_64x128x16
        : memref<4x128x64xf16, #gpu.address_space<workgroup>>,
          memref<4x128x64xf16, #gpu.address_space<workgroup>>, vector<128x128xf32>
    ```

    Sums of 8-bit numbers may be of a `part` of the columns: as many as they have,
    from that number of parts on.

    Constraints:
      * (C1) both buffers are in workgroup memory and have the same type of
        numbers; a row of a stage is 128 bytes.
      * (C2) `sums` has a row for each row of a stage of `x`, and a column for
        each of `w`, or for each of a part of it.
      * (C3) the instruction is `wgmma_64x128x16`.
  }];
  let arguments = (ins
    Arg<Gist_TileBuffer, "", [MemRead]>:$x, Index:$stage_x,
    Arg<Gist_TileBuffer, "", [MemRead]>:$w, Index:$stage_w,
    Gist_TileSums:$sums, Gist_InstructionAttr:$instruction,
    DefaultValuedAttr<I64Attr, "0">:$part
  );
  let results = (outs Gist_TileSums:$result);
  let assemblyFormat = [{
    $x `[` $stage_x `]` `,` $w `[` $stage_w `]` `,` $sums `with` $instruction
    (`part` $part^)? attr-dict `:` type($x) `,` type($w) `,` type($sums)
  }];
  let hasVerifier = 1;
}

def Gist_TileFinishOp : Gist_TileOp<"finish", [
    Pure, AllTypesMatch<["sums", "result"]>]> {
  let summary = "sums when everything that was started has been added";
  let arguments = (ins Gist_TileSums:$sums);
  let results = (outs Gist_TileSums:$result);
  let assemblyFormat = "$sums attr-dict `:` type($sums)";
}

def Gist_TileScalesOp : Gist_TileOp<"scales", [Pure]> {
  let summary = "load the scales of a block of k";
  let description = [{
        result[m] = source[row + m, block]

    Rows past the end have any scale.

    ```mlir
    %s = gist.tile_scales %scales[%row, %block]
        : tensor<?x5xf32> -> vector<128xf32>
    ```
  }];
  let arguments = (ins
    TensorRankOf<[F32], [2]>:$source, Index:$row, Index:$block
  );
  let results = (outs FixedVectorOfRankAndType<[1], [F32]>:$result);
  let assemblyFormat = [{
    $source `[` $row `,` $block `]` attr-dict `:` type($source) `->`
    type($result)
  }];
}

def Gist_TileScaleOp : Gist_TileOp<"scale", [
    Pure, AllTypesMatch<["totals", "result"]>]> {
  let summary = "add the scaled sums of a block";
  let description = [{
        result[m, n] = totals[m, n] + scales[m] * sums[m, n]

    In f32, for the columns of the totals that the sums are a `part` of. Sums of
    blocks of 128 products of 8-bit integers are exact there.

    ```mlir
    %t = gist.tile_scale %sums by %scales add %totals
        : vector<128x64xi32>, vector<128xf32>, vector<128x64xf32>
    ```

    Constraints:
      * (C1) there are sums and a scale for each row of `totals`, and sums for
        a whole number of parts of its columns, among them `part`.
  }];
  let arguments = (ins
    Gist_TileSums:$sums,
    FixedVectorOfRankAndType<[1], [F32]>:$scales, Gist_TileTotals:$totals,
    DefaultValuedAttr<I64Attr, "0">:$part
  );
  let results = (outs Gist_TileTotals:$result);
  let assemblyFormat = [{
    $sums `by` $scales `add` $totals (`part` $part^)? attr-dict
    `:` type($sums) `,` type($scales) `,` type($totals)
  }];
  let hasVerifier = 1;
}

def Gist_TileInterleaveOp : Gist_TileOp<"interleave", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "spread the loads of a step among its matrix instructions";
  let description = [{
    Advice for the scheduler of gfx942, about what stands before it in its block:
    the products that made `sums` of the `tiles`, and what was `fetched`. Reads
    of workgroup memory come first, then loads; where numbers are made of blocks,
    vector instructions. Nothing is moved over it.

    ```mlir
    gist.tile_interleave %s of %a, %b with %fx, %fw : vector<128x64xf32>,
        vector<128x32xf16>, vector<64x32xf16>, vector<128x32xf32>, vector<64x32xf16>
    ```

    Constraints:
      * (C1) `sums` come from `gist.tile_multiply`, and what was `fetched` from
        `gist.tile_fetch`.
  }];
  let arguments = (ins
    Gist_TileSums:$sums, Gist_TileVector:$tile_x, Gist_TileVector:$tile_w,
    Variadic<Gist_TileVector>:$fetched
  );
  let assemblyFormat = [{
    $sums `of` $tile_x `,` $tile_w (`with` $fetched^)? attr-dict `:`
    type($sums) `,` type($tile_x) `,` type($tile_w)
    (`,` type($fetched)^)?
  }];
  let hasVerifier = 1;
}

#endif // GIST_TILE_OPS
