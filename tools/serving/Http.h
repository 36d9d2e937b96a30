//===- Http.h - HTTP/1.1 as bytes -------------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of HTTP/1.1 that this server needs, without sockets: the head of a
// request, a body in chunks, the head of an answer. A head that can be read in
// two ways is refused, so that a proxy in front of the server never sees
// another request.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_HTTP_H
#define GIST_TOOLS_SERVING_HTTP_H

#include "tools/serving/ApiError.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gist::serve {

inline constexpr size_t kMaxTarget = 8192;
inline constexpr size_t kMaxChunkLine = 1024;

struct HttpRequest {
  std::string method;
  std::string path;       ///< decoded, without a query
  std::string clientHost; ///< the address that it came from
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<uint64_t> bodyBytes = 0; ///< empty: the body comes in chunks
  bool isOld = false;                    ///< HTTP/1.0
  bool isLast = false;                   ///< the client closes after the answer
  bool expectsContinue = false;

  /// The first header of that name; null if there is no such header.
  const std::string *find(std::string_view name) const;
  /// The same; empty if there is no such header.
  std::string header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string type, body;
  /// Writes the next piece of a body that has no end yet, in place of `body`;
  /// true: it is the last.
  std::function<bool(std::string &piece)> next;

  void setHeader(std::string name, std::string value) {
    headers.emplace_back(std::move(name), std::move(value));
  }
  void setBody(std::string text, std::string itsType) {
    body = std::move(text);
    type = std::move(itsType);
  }
};

/// Reads a head, with the empty line at its end.
ApiError parseHead(std::string_view head, HttpRequest &request);

/// The head of an answer; `isLast`: the connection ends with it.
std::string writeHead(const HttpResponse &response, bool isLast);

/// One chunk of a body; that of an empty piece is the last.
std::string writeChunk(std::string_view piece);

/// A body that comes in chunks.
class ChunkedBody {
public:
  enum class State { Incomplete, Whole, Malformed, TooLarge };

  /// Of `limit` bytes at most.
  explicit ChunkedBody(size_t limit) : limit(limit) {}
  /// Appends what `bytes` have of the body to `body`, which begins empty.
  State take(std::string_view bytes, std::string &body);

private:
  State takeLine(size_t bodySize);

  enum class Phase { Size, Data, DataEnd, Trailer };
  Phase phase = Phase::Size;
  size_t limit, left = 0;
  std::string line; ///< the part of it that has come
};

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_HTTP_H
