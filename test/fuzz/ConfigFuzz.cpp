//===- ConfigFuzz.cpp - Any bytes as a config.json ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/ModelConfig.h"

using namespace gist;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto parsed = nlohmann::json::parse(data, data + size, nullptr,
                                      /*allow_exceptions=*/false);
  // Folders without an object are refused before anything is read of it.
  if (!parsed.is_object())
    return 0;
  ConfigReader reader(parsed);
  ModelConfig config;
  if (!readCommonConfig(reader, config).ok())
    return 0;
  (void)checkSlidingWindow(config).ok();
  (void)readRotaryConfig(reader, config).ok();
  (void)readLayerTypes(reader, config).ok();
  (void)readExperts(reader, config).ok();
  // What architectures ask for besides.
  (void)reader.expect({{"norm_topk_prob", "qkv_bias"}}, true).ok();
  std::vector<int64_t> numbers;
  (void)reader.read("mlp_only_layers", numbers).ok();
  (void)reader.has({{"head_dim"}});
  return 0;
}
