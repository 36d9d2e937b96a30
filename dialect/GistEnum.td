//===- GistEnum.td - How enums of the dialect are written --*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_ENUM
#define GIST_ENUM

include "dialect/GistDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Gist_Enum<string name, string mnemonic, string summary,
                list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::gist";
  let genSpecializedAttr = 0;
  string attrMnemonic = mnemonic;
}

class Gist_EnumAttr<Gist_Enum enum>
    : EnumAttr<Gist_Dialect, enum, enum.attrMnemonic> {
  let assemblyFormat = "$value";
}

#endif // GIST_ENUM
