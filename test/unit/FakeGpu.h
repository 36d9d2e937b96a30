//===- FakeGpu.h - A GPU driver that tests can look into --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FakeGpu.c is built twice, with the names of HIP and with those of CUDA. Its
// "card" is this process: memory is allocated here and kernels are those of
// TinyKernels.c. What a real driver would forgive by luck it does not:
//
// - Nothing happens before the stream is synchronised.
// - Of a graph's nodes that may run, the one added last runs first.
// - Fresh memory is full of rubbish; copies outside of it are refused.
// - Calls without a current context are refused (CUDA).
//
// Settings, by gistFakeSet() or GIST_FAKE_GPU="name=value,...":
//   version, cards, memory (bytes), capability (90), gfx (0x942; 0: no name),
//   lds (bytes), and failures: fail_init, fail_load, fail_upload, fail_launch,
//   fail_graph, fail_edge, fail_run (of a kernel, noticed when synchronising);
//   fault_call and fault_allocation: the number of the call, of all functions
//   or of those that give memory, that fails; with fault_stays all later ones
//   too
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TEST_UNIT_FAKEGPU_H
#define GIST_TEST_UNIT_FAKEGPU_H

#ifdef __cplusplus
extern "C" {
#endif

/// What a module's code must begin with.
#define GIST_FAKE_CODE "code for the fake GPU"

/// Everything as it was at first, but for what has not been given back.
void gistFakeReset(void);
/// Frees what was made and not given back: what a driver that no longer answers
/// keeps.
void gistFakeForget(void);
/// Returns 0 for an unknown setting.
int gistFakeSet(const char *name, long value);
/// Things alive: allocations, streams, events, modules, graphs, executables,
/// contexts. Things done: uploads, upload_bytes, launches, nodes, edges, roots,
/// graph_launches, kernels (run in either way), big_shared (functions allowed
/// more than 48 KiB), overlaps (edges whose later node may start early; CUDA),
/// calls, memory_calls, faults (calls that failed because of fault_...).
/// -1 for an unknown name.
long gistFakeCount(const char *name);

#ifdef __cplusplus
}
#endif

#endif // GIST_TEST_UNIT_FAKEGPU_H
