//===- GistHeader.c - gist.h is C
//------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/gist.h"

/// Called by CApiTest.cpp: what a program in C would write.
gist_code gistHeaderLoad(const char *path, int64_t *vocabSize) {
  gist_module *module = 0;
  gist_code code = gist_module_load(path, &module);
  if (code == GIST_OK)
    *vocabSize = gist_module_vocab_size(module);
  gist_module_free(module);
  return code;
}
