//===- Assets.h - Files that are part of the server -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_ASSETS_H
#define GIST_TOOLS_SERVING_ASSETS_H

#include <string_view>

namespace gist::serve {

std::string_view chatPage(); ///< assets/chat.html
std::string_view openApi();  ///< assets/openapi.json

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_ASSETS_H
