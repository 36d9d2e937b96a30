//===- MpiRanks.h - Ranks that mpirun has started ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_RANKS_MPIRANKS_H
#define GIST_RUNTIME_RANKS_MPIRANKS_H

#include "runtime/ranks/Communicator.h"
#include "runtime/ranks/Lifeline.h"

#include <memory>
#include <string>

namespace gist {

struct MpiOptions {
  std::string library = {}; ///< path of libmpi; empty: the usual names
  CommunicatorOptions communicator = {};
  Lifeline::OnFailure onFailure = {}; ///< of another rank
};

/// Whether Open MPI's mpirun has started this process with others. Nothing is
/// opened to find out.
bool isUnderMpi();

/// Opens MPI's library and joins the other ranks. Once in a process.
Status openMpiRanks(const MpiOptions &options,
                    std::unique_ptr<Communicator> &result);

} // namespace gist

#endif // GIST_RUNTIME_RANKS_MPIRANKS_H
