//===- HeadTable.cpp - What the table of heads holds ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/format/HeadTable.h"

using namespace gist;

void gist::appendPlace(const HeadPlace &place, std::vector<float> &table) {
#define GIST_HEAD_INTEGER(Field, member)                                       \
  table.push_back(static_cast<float>(place.member));
#define GIST_HEAD_NUMBER(Field, member)                                        \
  table.push_back(static_cast<float>(place.member));
#include "runtime/format/HeadTable.def"
}

HeadPlace gist::readPlace(std::span<const float> table, size_t head) {
  std::span<const float> row =
      table.subspan(head * kNumHeadFields, kNumHeadFields);
  auto get = [&](HeadField field) { return row[static_cast<size_t>(field)]; };
  HeadPlace place;
#define GIST_HEAD_INTEGER(Field, member)                                       \
  place.member = static_cast<int64_t>(get(HeadField::Field));
#define GIST_HEAD_NUMBER(Field, member)                                        \
  place.member = static_cast<double>(get(HeadField::Field));
#include "runtime/format/HeadTable.def"
  return place;
}
