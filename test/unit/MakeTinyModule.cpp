//===- MakeTinyModule.cpp - Writes the test model for tests of the tools --===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/TinyModel.h"

#include <cstdio>
#include <cstdlib>

using namespace gist;
using namespace gist::test;

// For the tests of tools, which need module files but no compiler.
static int printUsage() {
  std::fputs("usage: gist-make-tiny-module OUT.gist [SEED] [OPTION...]\n"
             "  --encoder      only the entry that embeds\n"
             "  --scaled       code for the CPU that gives twice the logits\n"
             "  --ranks        for two ranks\n"
             "  --rewinds      with a state that can go back\n"
             "  --foreign      code for a CPU that is not this one\n"
             "  gfx...=FILE    code for an AMD GPU, from a code object\n"
             "  sm_...=FILE    code for an NVIDIA GPU, from PTX\n",
             stderr);
  return 2;
}

int main(int argc, char **argv) {
  if (argc < 2)
    return printUsage();
  uint32_t seed = 7;
  bool encoder = false, scaled = false, foreign = false, ranks = false;
  bool rewinds = false;
  std::vector<std::pair<std::string, std::string>> gpus;
  for (int i = 2; i < argc; ++i) {
    std::string argument = argv[i];
    size_t equals = argument.find('=');
    if (argument == "--encoder")
      encoder = true;
    else if (argument == "--scaled")
      scaled = true;
    else if (argument == "--foreign")
      foreign = true;
    else if (argument == "--ranks")
      ranks = true;
    else if (argument == "--rewinds")
      rewinds = true;
    else if (equals != std::string::npos)
      gpus.emplace_back(argument.substr(0, equals),
                        argument.substr(equals + 1));
    else if (i == 2)
      seed = std::strtoul(argv[i], nullptr, 10);
    else
      return printUsage();
  }
  TinyModel model(seed, scaled);
  if (encoder)
    std::erase_if(model.writer.spec.entries, [](const EntrySpec &entry) {
      return entry.name != kEntryEmbed;
    });
  if (foreign)
    // A triple that no test machine has.
    model.writer.spec.targets[0].triple = "riscv64-linux-gnu";
  if (rewinds)
    for (BufferSpec &buffer : model.writer.spec.buffers)
      buffer.zeroOnReset = false;
  if (ranks)
    model.addRanks();
  for (const auto &[name, file] : gpus) {
    bool isAmd = name.starts_with("gfx");
    model.addGpu(name, isAmd ? "hip" : "cuda",
                 isAmd ? CodeFormat::Hsaco : CodeFormat::Ptx, readFile(file));
  }
  model.write(argv[1]);
  return 0;
}
