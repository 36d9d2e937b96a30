//===- GistProgramOps.td - A model as a list of kernel calls -*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After -gist-form-kernels a model is a host function that only calls kernels,
// and the kernels. A kernel is a private function on tensors with the attribute
//
//   gist.kernel = #gist.kernel<kind = …, outputs = n>
//
// which GistKernelAttrs.td describes. Its last n arguments are destinations,
// tied in order to its results. It sees everything it needs as arguments:
// tensors, and index values for what differs from call to call (the layer, the
// tokens before this call). At run time an argument is one 64-bit slot, an
// address or a number, in order; the dynamic sizes of the tensor arguments
// follow, one slot each, in order.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PROGRAM_OPS
#define GIST_PROGRAM_OPS

include "dialect/GistOps.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def Gist_DispatchOp : Gist_Op<"dispatch", [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    RangedTypesMatchWith<"results are the updated destinations", "outputs",
                         "results", "$_self">]> {
  let summary = "call a kernel";
  let description = [{
    Runs `kernel` on `inputs`; the results are the destinations as the kernel
    leaves them. On tensors this is an ordinary call. Memory planning gives each
    destination a place, and a kernel that updates part of a destination (the
    KV cache) then does so in place.

    Constraints:
      * (C1) `kernel` names a function with the attribute `gist.kernel`.
      * (C2) Its arguments have the types of the inputs, then of the outputs.
      * (C3) It has one result per output, of the output's type, and
        `gist.kernel` says how many.

    Example:

    ```mlir
    %y = gist.dispatch @matmul_0(%x, %w : tensor<?x576xf32>, tensor<192x576xf32>)
        outs(%e : tensor<?x192xf32>)
    ```
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$kernel,
    Variadic<AnyTypeOf<[AnyRankedTensor, Index]>>:$inputs,
    Variadic<AnyRankedTensor>:$outputs
  );
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kernel `(` ($inputs^ `:` type($inputs))? `)`
    `outs` `(` $outputs `:` type($outputs) `)` attr-dict
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getOutputsMutable();
    }
  }];
}

def Gist_ArenaOp : Gist_Op<"arena"> {
  let summary = "a tensor at a place in the scratch arena";
  let description = [{
    What `tensor.empty` becomes when memory is planned: a destination of
    undefined content whose bytes start at `offset` in the arena of the call.
    The offset is a function of three symbols, in this order: the tokens of the
    call, the tokens before it and the capacity of the cache.

    Constraints:
      * (C1) `offset` has no dimensions, three symbols and one result.
      * (C2) There is one size per dynamic dimension.

    Example:

    ```mlir
    %d = gist.arena(%t) at affine_map<()[T, P, C] -> (T * 2304)> : tensor<?x576xf32>
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes, AffineMapAttr:$offset);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    `(` $sizes `)` `at` $offset attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

#endif // GIST_PROGRAM_OPS
