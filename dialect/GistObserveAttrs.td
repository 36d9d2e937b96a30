//===- GistObserveAttrs.td - What an entry shows -----------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_OBSERVE_ATTRS
#define GIST_OBSERVE_ATTRS

include "dialect/GistDialect.td"
include "mlir/IR/AttrTypeBase.td"

// The numbers are those of the module file (runtime/module/ModuleSpec.h).
def Gist_Observation : Gist_Enum<"Observation", "observation",
    "which tensor inside a model is shown", [
  I32EnumAttrCase<"Input", 0, "input">,       // rows that linear layers read
  I32EnumAttrCase<"Product", 1, "product">,   // what a linear layer gives
  I32EnumAttrCase<"Residual", 2, "residual">, // the residual stream
  I32EnumAttrCase<"Keys", 3, "keys">,         // the keys of attention
  I32EnumAttrCase<"Values", 4, "values">,     // its values
  I32EnumAttrCase<"Queries", 5, "queries">,   // its queries
]>;

def Gist_ObservedAttr : AttrDef<Gist_Dialect, "Observed"> {
  let mnemonic = "observed";
  let summary = "which tensor inside a model a result shows";
  let description = [{
    Written on the results of the entry `observe` by `-gist-add-observe-entry`
    and into the module file with them: planning and comparing read it there.

    - `kind`: the rows that linear layers read, what one of them gives, the
      residual stream before attention, or the keys, values or queries of
      attention; queries so that attention scales them by 1/sqrt(D).
    - `layer`: of the model; -1 for the head.
    - `group`: of linear layers that read the same rows; empty otherwise.
    - `weights`: of those linear layers, in order; a product has one.

    ```mlir
    #gist.observed<input, layer = 0, group = "qkv", weights = ["blk.0.attn_q.weight"]>
    #gist.observed<keys, layer = 3>
    ```
  }];
  let parameters = (ins
    "::gist::Observation":$kind,
    "int64_t":$layer,
    StringRefParameter<"group of linear layers", [{""}]>:$group,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$weights
  );
  let assemblyFormat = [{
    `<` $kind `,` `layer` `=` $layer
        (`,` `group` `=` $group^ `,` `weights` `=` `[` $weights `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

#endif // GIST_OBSERVE_ATTRS
