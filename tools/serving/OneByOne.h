//===- OneByOne.h - A pool of one sequence ----------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_ONEBYONE_H
#define GIST_TOOLS_SERVING_ONEBYONE_H

#include "runtime/session/Pool.h"

namespace gist::serve {

/// A pool for modules that cannot run several sequences in one call: it has
/// room for one, in a session. A step is a piece of the prompt or one token.
/// `ranks`, where the module is for several, follow that session.
Status createOneByOne(std::shared_ptr<const Module> module, Device &device,
                      const PoolOptions &options, Communicator *ranks,
                      std::unique_ptr<Pool> &result);

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_ONEBYONE_H
