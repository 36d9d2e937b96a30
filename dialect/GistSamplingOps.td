//===- GistSamplingOps.td - From logits to tokens ----------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_SAMPLING_OPS
#define GIST_SAMPLING_OPS

include "dialect/GistDialect.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Gist_SampleOp : Op<Gist_Dialect, "sample", [Pure, InferTypeOpAdaptor]> {
  let summary = "draw a token for each row of logits";
  let description = [{
    Everything that decides is a whole number, so that equal logits and settings
    give the same token on every device, in whatever order it adds. The settings
    of a row are

    | | |
    |---|---|
    | 0 | the bits of an f32: log2(e) / temperature |
    | 1 | k of top-k, from 1; 1 takes the largest logit |
    | 2 | p of top-p, of 2^32 |
    | 3 | the least weight, from 1: min-p, of 2^30 |
    | 4 | the random number, of 2^32 |

    With m the largest logit of the row and z = (m - x) * settings[0], computed
    in f32, token i with logit x has the weight

        w[i] = floor(e(frac) / 2^n)    where z < 30 and floor(z * 2^25) is
                                       n * 2^25 + frac
               2^30                    where x = m, infinite or not
               0                       elsewhere, NaN included

    where e(f), the 2^30-fold of 2^(-f / 2^25) but for a few units, is the
    polynomial of GistSamplingOps.h. Token i comes before j if its logit is
    larger or, where they are equal, its number smaller. Then

        K      = the first k tokens
        P      = those of K for which the weights before them add up to less than
                 max(1, floor(sum(w of K) * p / 2^32))
        C      = those of P whose weight is not below the least
        result = the smallest i for which the weights of C up to i add up to
                 more than floor(sum(w of C) * random / 2^32)

    and -1 where no logit is a number above -infinity.

    Constraints:
      * (C1) `logits` and `settings` have as many rows, and there are five
        settings.
      * (C2) The number of tokens is static, from 1 to 2^24.

    Example:

    ```mlir
    %next = gist.sample %logits by %settings : tensor<1x49152xf32>, tensor<1x5xi64>
    ```
  }];
  let arguments = (ins
    TensorRankOf<[F32], [2]>:$logits,
    TensorRankOf<[I64], [2]>:$settings
  );
  let results = (outs TensorRankOf<[I32], [1]>:$tokens);
  let assemblyFormat = [{
    $logits `by` $settings attr-dict `:` type($logits) `,` type($settings)
  }];
  let hasVerifier = 1;
}

#endif // GIST_SAMPLING_OPS
