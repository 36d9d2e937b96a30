//===- GistDialect.td - The gist dialect -------------------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT
#define GIST_DIALECT

include "mlir/IR/OpBase.td"

def Gist_Dialect : Dialect {
  let name = "gist";
  let summary = "transformers that do less work for the same answer";
  let description = [{
    The words in which Gist describes a model: which tokens represent the
    others (`gram_select`, `cascade_update`), attention on representatives
    (`attend`), and linear layers that read a small subspace image of their
    weights unless a token needs more (`gated_projection`). The dense forms
    they replace (`attention`, block-quantised weights) are here too.

    Every op is defined on tensors and has an executable definition in plain
    linalg, tensor, scf, arith and math: the pass `-gist-decompose`. Products
    accumulate in f32 whatever the element type.
  }];
  let cppNamespace = "::gist";
  // Attributes are declared in several files, each with headers of its own.
  let useDefaultAttributePrinterParser = 0;
  let useDefaultTypePrinterParser = 1;
  // VerifyAttrs.cpp: what the attributes that passes add may be.
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;

  private:
    void addKernelAttributes();
    void addTargetAttributes();
    void addTileAttributes();
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

#endif // GIST_DIALECT
