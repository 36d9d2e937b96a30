//===- GistTypes.td - Types of the gist dialect ------------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TYPES
#define GIST_TYPES

include "dialect/GistDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Gist_SelectionType : TypeDef<Gist_Dialect, "Selection"> {
  let mnemonic = "selection";
  let summary = "which tokens represent which";
  let description = [{
    The result of a selection over T tokens, or one such result per KV head:

    - `ids`: the token ids of the representatives, ascending; capacity T,
      entries past the count are -1;
    - `count`: their number r, which depends on the data and stays on the
      device;
    - `nearest`: for every token the token id of its representative, its own id
      for a representative;
    - `weight`: for every representative, in the order of `ids`, how many
      tokens it stands for; 0 past the count.

    `!gist.selection<512>` is one selection over 512 tokens,
    `!gist.selection<?>` one over a number of tokens known at run time and
    `!gist.selection<3x?>` one per KV head for three heads.
    `gist.unpack_selection` and `gist.pack_selection` go to and from tensors.
  }];
  let parameters = (ins
    OptionalParameter<"std::optional<int64_t>", "one selection per head">:$heads,
    "int64_t":$tokens
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The shape of `ids`, `nearest` and `weight`: tokens, or heads x tokens.
    ::llvm::SmallVector<int64_t, 2> getPartShape() const;
    /// The shape of `count`: scalar, or one per head.
    ::llvm::SmallVector<int64_t, 1> getCountShape() const;
    /// The type for selections over the rows of `tokens`, a tensor of T x d, or
    /// of T x heads x d for one selection per head.
    static SelectionType forTokens(::mlir::RankedTensorType tokens);
  }];
}

#endif // GIST_TYPES
