//===- ProfileTable.h - A profile as a table --------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_PROFILETABLE_H
#define GIST_TOOLS_RUNNING_PROFILETABLE_H

#include "runtime/session/Profile.h"

namespace gist::run {

/// Prints sums over layers to stderr, the most expensive first, with the layers
/// and the part of the model they are for, and what bounds each where the
/// device's limits are known.
void printProfile(const Profile &profile, const DeviceLimits &limits);

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_PROFILETABLE_H
