//===- GistTargetAttrs.td - What a module is compiled for --*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TARGET_ATTRS
#define GIST_TARGET_ATTRS

include "dialect/GistEnum.td"

def Gist_Gram : Gist_Enum<"Gram", "gram",
    "what selections compare rows in", [
  I32EnumAttrCase<"Exact", 0, "exact">, // the rows' own type
  I32EnumAttrCase<"Fp8", 1, "fp8">,     // rounded to f8E4M3FNUZ first
]>;

def Gist_CpuTargetAttr : AttrDef<Gist_Dialect, "CpuTarget"> {
  let mnemonic = "cpu_target";
  let summary = "the CPU that a module is compiled for";
  let description = [{
    Written on a module as `gist.target` by `-gist-set-target` and read by every
    pass that asks what the target can do. Nothing is left open: the names are
    LLVM's, and `features` come on top of those of the CPU.

    ```mlir
    module attributes {gist.target = #gist.cpu_target<
        triple = "aarch64-unknown-linux-gnu", cpu = "neoverse-v1", features = "">} {}
    ```

    Constraints:
      * (C1) `triple` is of aarch64 or x86_64.
      * (C2) `cpu` has a name, which is not `native`.
      * (C3) each of the `features` begins with + or -.
  }];
  let parameters = (ins
    StringRefParameter<"LLVM triple">:$triple,
    StringRefParameter<"LLVM name of the CPU">:$cpu,
    StringRefParameter<"features on top of the CPU's">:$features
  );
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Gist_GpuTargetAttr : AttrDef<Gist_Dialect, "GpuTarget"> {
  let mnemonic = "gpu_target";
  let summary = "the GPU that a module is compiled for";
  let description = [{
    What `#gist.cpu_target` is for CPUs. `gram` says what selections compare rows
    in: `exact` is the rows' own type. With `fp8` rows are rounded to f8E4M3FNUZ
    first, which takes half the memory and half the instructions.

    ```mlir
    module attributes {gist.target = #gist.gpu_target<"gfx942", gram = exact>} {}
    ```

    Constraints:
      * (C1) `name` is a GPU that the table of GPUs has, or a target ID of one:
        `gfx942:sramecc+:xnack-`.
      * (C2) `gram` is `fp8` only where the GPU multiplies f8E4M3FNUZ.
  }];
  let parameters = (ins
    StringRefParameter<"name of the GPU">:$name,
    "::gist::Gram":$gram
  );
  let assemblyFormat = "`<` $name `,` `gram` `=` $gram `>`";
  let genVerifyDecl = 1;
}

#endif // GIST_TARGET_ATTRS
