//===- GistAttrs.td - Attributes of the gist dialect -------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_ATTRS
#define GIST_ATTRS

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

def Gist_Against : Gist_Enum<"Against", "against",
    "which earlier tokens can make a token redundant", [
  I32EnumAttrCase<"All", 0, "all">,
  I32EnumAttrCase<"Kept", 1, "kept">,
]>;
def Gist_AgainstAttr : Gist_EnumAttr<Gist_Against>;

def Gist_Similarity : Gist_Enum<"Similarity", "similarity",
    "whether x and -x are alike", [
  I32EnumAttrCase<"Absolute", 0, "absolute">,
  I32EnumAttrCase<"Signed", 1, "signed">,
]>;
def Gist_SimilarityAttr : Gist_EnumAttr<Gist_Similarity>;

def Gist_Reach : Gist_Enum<"Reach", "reach",
    "which candidates a token may be compared with", [
  I32EnumAttrCase<"Before", 0, "before">,
  I32EnumAttrCase<"Upto", 1, "upto">,
  I32EnumAttrCase<"Any", 2, "any">,
]>;
def Gist_ReachAttr : Gist_EnumAttr<Gist_Reach>;

def Gist_CascadeRule : Gist_Enum<"CascadeRule", "rule",
    "how a selection follows from the one of the layer before", [
  I32EnumAttrCase<"Covering", 0, "covering">,
  I32EnumAttrCase<"Paper", 1, "paper">,
  I32EnumAttrCase<"Inherit", 2, "inherit">,
]>;
def Gist_CascadeRuleAttr : Gist_EnumAttr<Gist_CascadeRule>;

def Gist_AttendMode : Gist_Enum<"AttendMode", "mode",
    "what representatives stand for in attention", [
  I32EnumAttrCase<"Copy", 0, "copy">,
  I32EnumAttrCase<"Keys", 1, "keys">,
]>;
def Gist_AttendModeAttr : Gist_EnumAttr<Gist_AttendMode>;

def Gist_Merge : Gist_Enum<"Merge", "merge",
    "the key and value with which a cluster stands in attention", [
  I32EnumAttrCase<"Representative", 0, "representative">,
  I32EnumAttrCase<"Mean", 1, "mean">,
]>;
def Gist_MergeAttr : Gist_EnumAttr<Gist_Merge>;

def Gist_BlockFormat : Gist_Enum<"BlockFormat", "block_format",
    "storage format of block-quantised weights", [
  I32EnumAttrCase<"Q4_0", 0, "q4_0">,
  I32EnumAttrCase<"Q4_1", 1, "q4_1">,
  I32EnumAttrCase<"Q8_0", 2, "q8_0">,
  I32EnumAttrCase<"Q4_K", 3, "q4_k">,
  I32EnumAttrCase<"Q6_K", 4, "q6_k">,
  I32EnumAttrCase<"Q3_1", 5, "q3_1">,
  I32EnumAttrCase<"Q2_1", 6, "q2_1">,
]>;
def Gist_BlockFormatAttr : Gist_EnumAttr<Gist_BlockFormat>;

// Choices that one pass makes and the next obey.
include "dialect/GistTileAttrs.td"

#endif // GIST_ATTRS
