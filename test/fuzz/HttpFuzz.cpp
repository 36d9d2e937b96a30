//===- HttpFuzz.cpp - Any bytes as HTTP to gist-serve ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Http.h"

#include <algorithm>

using namespace gist::serve;

static constexpr size_t kLimit = 4096;

static void require(bool isTrue) {
  if (!isTrue)
    __builtin_trap();
}

/// Reads the body in pieces of `step` bytes.
static ChunkedBody::State readChunks(std::string_view bytes, size_t step,
                                     std::string &body) {
  ChunkedBody chunks(kLimit);
  ChunkedBody::State state = ChunkedBody::State::Incomplete;
  while (!bytes.empty() && state == ChunkedBody::State::Incomplete) {
    state = chunks.take(bytes.substr(0, step), body);
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  require(body.size() <= kLimit);
  return state;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  size_t end = bytes.find("\r\n\r\n");
  size_t headSize = end == std::string_view::npos ? size : end + 4;
  HttpRequest request;
  ApiError error = parseHead(bytes.substr(0, headSize), request);
  if (!error.ok()) {
    require((error.status == 400 || error.status == 414) &&
            !error.message.empty());
    return 0;
  }
  require(!request.method.empty() && request.path.size() <= kMaxTarget);
  for (const auto &[name, value] : request.headers)
    require(!name.empty() && value.find_first_of("\r\n") == std::string::npos);
  if (request.bodyBytes)
    return 0;
  // How a body is cut on its way changes nothing.
  std::string whole, single;
  ChunkedBody::State state =
      readChunks(bytes.substr(headSize), kLimit * 4, whole);
  require(readChunks(bytes.substr(headSize), 1, single) == state);
  require(whole == single);
  return 0;
}
