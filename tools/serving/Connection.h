//===- Connection.h - One client's socket, with limits ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cpp-httplib reads and writes through this. Its own sockets wait for each read
// as long as for the first one and read lines without end, so that a client who
// sends a byte now and then holds a thread for ever. Here a request has a time
// in which all of it must come, and its head a size.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_CONNECTION_H
#define GIST_TOOLS_SERVING_CONNECTION_H

#include "httplib.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
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

class Connection final : public httplib::Stream {
public:
  using Clock = std::chrono::steady_clock;

  /// Takes the socket, which must not block.
  Connection(int socket, const ConnectionLimits &limits);
  /// Closes it, so that what was sent arrives.
  ~Connection() override;
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;

  /// The one that the current thread serves.
  static Connection *current();

  /// Waits for the first byte of a request; false: none comes.
  bool waitForRequest();
  /// The head is read: the body, of `bytes`, is next. Without a length it is
  /// not known where the body ends, and the connection ends with the answer.
  void beginBody(std::optional<uint64_t> bytes);
  /// Whether the next byte is the first of another request.
  bool isAtRequestEnd() const { return hasLength && bodyLeft == 0; }

  /// When the answer to the current request must be complete.
  Clock::time_point deadline() const { return answerDeadline; }
  /// The client has closed its side, or the connection broke.
  bool isGone() const;
  /// Ends waits of the thread that serves it; for other threads.
  void interrupt();

  bool is_readable() const override { return true; }
  bool is_writable() const override { return !isGone(); }
  ssize_t read(char *to, size_t size) override;
  ssize_t write(const char *from, size_t size) override;
  void get_remote_ip_and_port(std::string &ip, int &port) const override;
  void get_local_ip_and_port(std::string &ip, int &port) const override;
  socket_t socket() const override { return handle; }

private:
  bool fill(Clock::time_point until);
  bool waitFor(short what, Clock::time_point until) const;

  int handle;
  const ConnectionLimits &limits;
  std::vector<char> buffer;
  size_t begin = 0, end = 0; ///< what of `buffer` was received and not read
  bool inHead = true, hasLength = false;
  size_t headLeft = 0;
  uint64_t bodyLeft = 0;
  Clock::time_point readDeadline, answerDeadline;
};

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_CONNECTION_H
