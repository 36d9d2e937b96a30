//===- FileKind.cpp - Files that people take for others -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/FileKind.h"

#include <string_view>

using namespace gist;

const char *gist::explainKind(Bytes file) {
  struct Kind {
    std::string_view begin;
    const char *explanation;
  };
  static constexpr const char *kWebPage =
      "the file is a web page, not what was to be fetched from it";
  // The first that fits counts.
  static constexpr Kind kKinds[] = {
      {"version https://git-lfs", "the file is a pointer of Git LFS, not the "
                                  "content; fetch that with 'git "
                                  "lfs pull'"},
      {"GGUF", "the file is a GGUF model; 'gist-compile MODEL' makes a module "
               "of it"},
      {"\x89GIST\r\n", "the file is a module already; 'gist-run' runs it"},
      {"<!DOCTYPE", kWebPage},
      {"<!doctype", kWebPage},
      {"<html", kWebPage},
      {"PK\x03\x04", "the file is a ZIP archive, or weights of PyTorch; "
                     "expected a GGUF file or a folder with safetensors"},
  };
  if (file.size == 0)
    return "the file is empty";
  for (const Kind &kind : kKinds)
    if (file.text().substr(0, kind.begin.size()) == kind.begin)
      return kind.explanation;
  return nullptr;
}
