//===- HeadTable.h - What the table of heads holds --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_FORMAT_HEADTABLE_H
#define GIST_RUNTIME_FORMAT_HEADTABLE_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gist {

/// The columns of the table.
enum class HeadField {
#define GIST_HEAD_INTEGER(Field, member) Field,
#define GIST_HEAD_NUMBER(Field, member) Field,
#include "runtime/format/HeadTable.def"
};

inline constexpr int64_t kNumHeadFields = 0
#define GIST_HEAD_INTEGER(Field, member) +1
#define GIST_HEAD_NUMBER(Field, member) +1
#include "runtime/format/HeadTable.def"
    ;

/// What the table says of one KV head of one layer.
struct HeadPlace {
#define GIST_HEAD_INTEGER(Field, member) int64_t member = 0;
#define GIST_HEAD_NUMBER(Field, member) double member = 0;
#include "runtime/format/HeadTable.def"

  bool operator==(const HeadPlace &) const = default;
};

/// Appends a row to a table.
void appendPlace(const HeadPlace &place, std::vector<float> &table);

/// Row `head` of a table, by layer and then KV head. The table has the row.
HeadPlace readPlace(std::span<const float> table, size_t head);

/// A theta of 2 and more is compared with a number that is drawn for each token
/// from 2 up to 3, in place of a cosine: a token founds a cluster of its own
/// where its number is below theta, so for a share of the tokens.
inline constexpr double kFirstRandomTheta = 2;
inline double randomTheta(double share) { return kFirstRandomTheta + share; }

} // namespace gist

#endif // GIST_RUNTIME_FORMAT_HEADTABLE_H
