//===- Connection.h - One client's socket, with limits ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A request has a time in which all of it must come, and its head and its body
// have a size: a client that sends a byte now and then does not hold a thread
// for ever.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_CONNECTION_H
#define GIST_TOOLS_SERVING_CONNECTION_H

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gist::serve {

struct ConnectionLimits {
  std::chrono::seconds read{30};  ///< for all of a request to come
  std::chrono::seconds write{30}; ///< for a client to take what is sent
  std::chrono::seconds idle{60};  ///< between requests
  /// From a request to the end of its answer.
  std::chrono::seconds request{600};
  size_t headBytes = size_t{32} << 10;
  size_t bodyBytes = size_t{16} << 20;
};

class Connection final {
public:
  using Clock = std::chrono::steady_clock;
  /// How a read ended.
  enum class Read { Whole, Incomplete, Malformed, TooLarge };

  /// Takes the socket, which must not block.
  Connection(int socket, const ConnectionLimits &limits);
  /// Closes it, so that what was sent arrives.
  ~Connection();
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;

  /// The one that the current thread serves.
  static Connection *current();

  /// Waits for the first byte of a request; false: none comes.
  bool waitForRequest();
  /// Reads up to the empty line at the end of a head, which `head` has too.
  Read readHead(std::string &head);
  /// The head is read: the body, of `bytes`, is next. Without a length it comes
  /// in chunks, and the connection ends with the answer. A client that
  /// `expectsContinue` sends the body when it is told that the body is read.
  void beginBody(std::optional<uint64_t> bytes, bool expectsContinue);
  /// Reads it.
  Read readBody(std::string &body);
  /// Whether the next byte is the first of another request.
  bool isAtRequestEnd() const { return hasLength && bodyLeft == 0; }

  /// When the answer to the current request must be complete.
  Clock::time_point deadline() const { return answerDeadline; }
  /// The client has closed its side, or the connection broke.
  bool isGone() const;
  /// Ends waits of the thread that serves it; for other threads.
  void interrupt();

  /// All of it or an error: a client that takes nothing for too long is gone.
  bool write(std::string_view bytes);
  /// The client's address.
  std::string peer() const;

private:
  bool fill(Clock::time_point until);
  bool waitFor(short what, Clock::time_point until) const;

  int handle;
  const ConnectionLimits &limits;
  std::vector<char> buffer;
  size_t begin = 0, end = 0; ///< what of `buffer` was received and not read
  bool hasLength = false, expectsContinue = false;
  uint64_t bodyLeft = 0; ///< not read yet, where the length is known
  Clock::time_point readDeadline, answerDeadline;
};

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_CONNECTION_H
