//===- GistAttrs.td - Attributes of the gist dialect -------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_ATTRS
#define GIST_ATTRS

include "dialect/GistEnum.td"

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
  I32EnumAttrCase<"Q5_0", 7, "q5_0">,
  I32EnumAttrCase<"Q5_1", 8, "q5_1">,
  I32EnumAttrCase<"Q5_K", 9, "q5_k">,
  I32EnumAttrCase<"Q3_K", 10, "q3_k">,
  I32EnumAttrCase<"Q2_K", 11, "q2_k">,
  I32EnumAttrCase<"IQ4_NL", 12, "iq4_nl">,
]>;
def Gist_BlockFormatAttr : Gist_EnumAttr<Gist_BlockFormat>;

def Gist_PackingAttr : AttrDef<Gist_Dialect, "Packing"> {
  let mnemonic = "packing";
  let summary = "the order of a block-quantised weight in tiles";
  let description = [{
    A weight of N x K in blocks of 32 values along K becomes bytes of
    ceil(N / columns) x K / 32 x block bytes. Such a block holds, for `columns`
    neighbouring rows of the weight and 32 values of each,

    1. the scales d, [32 / group][columns], f16, or i8 if `scale_bits` is 8,
    2. the minima m in the same order, where `has_min`,
    3. the values, [32 / depth][columns][depth] of 8 bits; with `bits` = 4 two
       steps of `depth` share their bytes, the first in the low halves. With
       `bits` = 2 value number i in that order is in byte i % (8 * columns),
       from bit 2 * (i / (8 * columns)) on. With 3, 5 and 6 the lowest two or
       four bits lie so, and the b bits above them follow, those of value i in
       byte i % (4 * b * columns) from bit b * (i / (4 * b * columns)) on.

    A value u stands for d * (u - zero) + m; u is signed where `is_signed`. Of a
    format with levels, what is there is the number of one, which stands for u.
    Rows past N are zero. Eight blocks with 8-bit d and m become one of K / 256, behind
    the f16 [columns] that all d, and then those that all m are multiplied with.

    ```mlir
    #gist.packing<columns = 4, depth = 8, bits = 4, group = 32,
                  scale_bits = 16, zero = 0, is_signed = false, has_min = true>
    ```
  }];
  let parameters = (ins
    "int64_t":$columns, "int64_t":$depth, "int64_t":$bits, "int64_t":$group,
    "int64_t":$scale_bits, "int64_t":$zero, "bool":$is_signed, "bool":$has_min
  );
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Values of one block along K.
    static constexpr int64_t kBlock = 32;
    /// Where the minima and the values begin in a block, and its size.
    int64_t getMinOffset() const;
    int64_t getValueOffset() const;
    int64_t getBlockBytes() const;
    /// The shape of a packed weight of `rows` x `depth` values.
    ::llvm::SmallVector<int64_t, 3> getPackedShape(int64_t rows,
                                                   int64_t values) const;
  }];
}

include "dialect/GistObserveAttrs.td"

#endif // GIST_ATTRS
