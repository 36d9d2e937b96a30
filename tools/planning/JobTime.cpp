//===- JobTime.cpp - What parts of a model take of a job ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/JobTime.h"

using namespace gist;
using namespace gist::plan;

/// One of three, by what a head keeps.
static double byKind(HeadKind kind, double dense, double ring, double cluster) {
  switch (kind) {
  case HeadKind::Dense:
    return dense;
  case HeadKind::Window:
    return ring;
  case HeadKind::Clusters:
  case HeadKind::Random:
    break;
  }
  return cluster;
}

double JobTime::ofPrompt(const HeadPart &part, bool isPlanned) const {
  HeadWork joined = part.work;
  joined.keys = 0;
  return byKind(part.kind, isPlanned ? rates.looked : rates.dense, rates.ring,
                rates.cluster) *
             countMultiplyAdds({.keys = part.work.keys}, shape) +
         rates.joined * countMultiplyAdds(joined, shape);
}

double JobTime::ofAnswer(const HeadPart &part, bool isPlanned) const {
  return byKind(part.kind, isPlanned ? rates.lookedKept : rates.denseKept,
                rates.ringKept, rates.clusterKept) *
         part.rows * static_cast<double>(shape.keySize + shape.valueSize) *
         static_cast<double>(what.answer);
}
