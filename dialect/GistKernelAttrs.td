//===- GistKernelAttrs.td - What a kernel function is ------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_KERNEL_ATTRS
#define GIST_KERNEL_ATTRS

include "dialect/GistEnum.td"

def Gist_KernelKind : Gist_Enum<"KernelKind", "kernel_kind",
    "what a kernel computes", [
  I32EnumAttrCase<"Rows", 0, "rows">,
  I32EnumAttrCase<"Matmul", 1, "matmul">,
  I32EnumAttrCase<"QuantizedMatmul", 2, "quantized_matmul">,
  I32EnumAttrCase<"GuardedMatmul", 3, "guarded_matmul">,
  I32EnumAttrCase<"ExpertMatmul", 4, "expert_matmul">,
  I32EnumAttrCase<"QuantizedExpertMatmul", 5, "quantized_expert_matmul">,
  I32EnumAttrCase<"Attention", 6, "attention">,
  I32EnumAttrCase<"Attend", 7, "attend">,
  I32EnumAttrCase<"ClusterAttention", 8, "cluster_attention">,
  I32EnumAttrCase<"ClusterUpdate", 9, "cluster_update">,
  I32EnumAttrCase<"Select", 10, "select">,
  I32EnumAttrCase<"GatedProjection", 11, "gated_projection">,
  I32EnumAttrCase<"GatedProducts", 12, "gated_products">,
  I32EnumAttrCase<"Sample", 13, "sample">,
]>;

def Gist_KernelAttr : AttrDef<Gist_Dialect, "Kernel"> {
  let mnemonic = "kernel";
  let summary = "what a kernel function computes, and where to";
  let description = [{
    `-gist-form-kernels` writes it on every kernel function, as `gist.kernel`.
    Each target has one entry per kind: how the kernel is cut, what memory it
    needs to work in, and how its code is written.

    - `kind`: what the kernel computes. Besides one op that the kind is named
      after, a kernel has what is computed along with that op, element by
      element. `rows` has no such op; `matmul` has one contraction, and
      `gated_products` has several.
    - `outputs`: how many of the last arguments are destinations. They are
      tied in order to the results.
    - `scratch`: how many of the last destinations are memory to work in.

    ```mlir
    #gist.kernel<kind = matmul, outputs = 1>
    #gist.kernel<kind = select, outputs = 6, scratch = 2>
    ```
  }];
  let parameters = (ins
    "::gist::KernelKind":$kind,
    "int64_t":$outputs,
    DefaultValuedParameter<"int64_t", "0">:$scratch
  );
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // GIST_KERNEL_ATTRS
