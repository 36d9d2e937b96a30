//===- GistExpertOps.td - Products with a weight for each row -*- tablegen -*-//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_EXPERT_OPS
#define GIST_EXPERT_OPS

include "dialect/GistAttrs.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Gist_ExpertOp<string mnemonic>
    : Op<Gist_Dialect, mnemonic, [
        Pure, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
          "reifyResultShapes"]>]> {
  let results = (outs TensorRankOf<[F32], [2]>:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// E, S, N and K of the description.
    ::gist::ExpertSizes getSizes();
  }];
}

def Gist_ExpertMatmulOp : Gist_ExpertOp<"expert_matmul"> {
  let summary = "rows times the weights that they name";
  let description = [{
    A linear layer of a mixture of experts. E weights of N x K lie one below the
    other, and each of T tokens names S of them:

        result[t, s * N + n] = sum_k x[t, s, k] * w[experts[t, s] * N + n, k]

    where x[t, s, k] is input[t, k], the same row for all that a token names, or
    input[t, s * K + k], a row for each.

    Numerics: sums in f32, in no fixed order. Where `experts` holds a number
    that is not in [0, E) the result has no meaning; nothing outside of the
    weight is read. A weight that no token names is not read, so its content
    does not matter, NaN included.

    Constraints:
      * (C1) `weight` is (E * N) x K with E >= 1, static.
      * (C2) `experts` is T x S, S static and positive.
      * (C3) `input` is T x K or T x (S * K).
      * (C4) The result is T x (S * N).

    Example:

    ```mlir
    // 5 experts of 64 x 32, of which a token names 2.
    %y = gist.expert_matmul %x, %w by %e
        : tensor<?x32xf32>, tensor<320x32xf16>, tensor<?x2xi32>
          -> tensor<?x128xf32>
    ```
  }];
  let arguments = (ins
    TensorRankOf<[F32, F16, BF16], [2]>:$input,
    TensorRankOf<[F32, F16, BF16], [2]>:$weight,
    TensorRankOf<[I32], [2]>:$experts
  );
  let assemblyFormat = [{
    $input `,` $weight `by` $experts attr-dict
    `:` type($input) `,` type($weight) `,` type($experts) `->` type($result)
  }];
}

def Gist_QuantizedExpertMatmulOp : Gist_ExpertOp<"quantized_expert_matmul"> {
  let summary = "rows of 8-bit integers times the weights that they name";
  let description = [{
    `gist.expert_matmul` for rows as `gist.quantize_rows` gives them and a
    block-quantised weight. Blocks are multiplied as `gist.quantized_matmul`
    does it, and `packed` means the same as there.

    Constraints: those of `gist.expert_matmul`, for the numbers that `values`
    and `weight` stand for, and
      * (C5) `scales` has one number for each 32 of `values`.
      * (C6) N is whole tiles of a packed weight.

    Example:

    ```mlir
    %y = gist.quantized_expert_matmul %q, %d, %w format q4_1 by %e
        : tensor<?x32xi8>, tensor<?x1xf32>, tensor<320x1x20xi8>,
          tensor<?x2xi32> -> tensor<?x128xf32>
    ```
  }];
  let arguments = (ins
    TensorRankOf<[I8], [2]>:$values, TensorRankOf<[F32], [2]>:$scales,
    TensorRankOf<[I8], [3]>:$weight, Gist_BlockFormatAttr:$format,
    OptionalAttr<Gist_PackingAttr>:$packed, TensorRankOf<[I32], [2]>:$experts
  );
  let assemblyFormat = [{
    $values `,` $scales `,` $weight `format` $format (`packed` $packed^)?
    `by` $experts attr-dict
    `:` type($values) `,` type($scales) `,` type($weight) `,` type($experts)
    `->` type($result)
  }];
}

#endif // GIST_EXPERT_OPS
