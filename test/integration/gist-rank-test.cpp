//===- gist-rank-test.cpp - Greedy tokens of a module on several ranks ----===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gist-rank-test MODULE DEVICE[:LIBRARY] COUNT ID...
//
// Prints COUNT tokens that follow the given ones, whatever ends a text, one in
// a line with a hash of all logits: those of two runs are equal where every bit
// is. For modules without a tokenizer, which gist-run generate needs. Alone
// the ranks are threads; under mpirun they are processes.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Session.h"
#include "runtime/support/Hash.h"
#include "tools/running/Ranks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace gist;

static Status generate(const char *path, const std::string &device, int count,
                       std::vector<int32_t> tokens) {
  run::RankedModel model;
  model.path = path;
  model.device = device.substr(0, device.find(':'));
  if (model.device != device)
    model.library = device.substr(model.device.size() + 1);
  model.trust = true;
  std::shared_ptr<const Module> module;
  GIST_TRY(Module::open(path, module));
  run::RankLease lease;
  GIST_TRY(lease.take(*module, model));
  DeviceOptions options;
  options.threads = model.threads;
  options.index = model.deviceIndex;
  options.library = model.library;
  std::unique_ptr<Device> opened;
  GIST_TRY(openDevice(model.device, options, opened));
  std::unique_ptr<Session> session;
  GIST_TRY(Session::create(module, *opened,
                           {.trust = true, .ranks = lease.ranks()}, session));
  for (int i = 0; i < count; ++i) {
    // A job that is to be killed goes on until it is.
    if (session->position() == session->capacity())
      GIST_TRY(session->reset());
    GIST_TRY(session->feed(tokens));
    std::span<const float> logits = session->logits();
    auto best = static_cast<int32_t>(
        std::max_element(logits.begin(), logits.end()) - logits.begin());
    Hasher hash;
    hash.update({reinterpret_cast<const uint8_t *>(logits.data()),
                 logits.size_bytes()});
    std::printf("%d %016llx\n", best,
                static_cast<unsigned long long>(hash.finish()));
    std::fflush(stdout);
    tokens = {best};
  }
  return {};
}

int main(int argc, char **argv) {
  if (std::optional<int> status = run::followRank0("gist-rank-test"))
    return *status;
  if (argc < 5) {
    std::fputs("usage: gist-rank-test MODULE DEVICE[:LIBRARY] COUNT ID...\n",
               stderr);
    return run::endRanks(2);
  }
  std::vector<int32_t> tokens;
  for (int i = 4; i < argc; ++i)
    tokens.push_back(std::atoi(argv[i]));
  Status status = generate(argv[1], argv[2], std::atoi(argv[3]), tokens);
  if (!status.ok() && run::mayTellError())
    std::fprintf(stderr, "gist-rank-test: error: %s\n", status.text.c_str());
  return run::endRanks(status.ok() ? 0 : 1);
}
