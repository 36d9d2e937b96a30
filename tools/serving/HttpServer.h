//===- HttpServer.h - Sockets for cpp-httplib -------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cpp-httplib parses requests, finds their handlers and writes answers. Which
// connections there are, how many, and for how long is decided here: the
// library itself lets five wait, and ends when an accept fails.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_HTTPSERVER_H
#define GIST_TOOLS_SERVING_HTTPSERVER_H

#include "tools/serving/Connection.h"

#include "runtime/support/Status.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace gist::serve {

class HttpServer : public httplib::Server {
public:
  /// `limits` outlives this.
  HttpServer(const ConnectionLimits &limits, size_t maxConnections);
  /// Ends all connections.
  ~HttpServer() override;

  /// Listens; port 0 is any that is free.
  Status bind(const std::string &host, int port);
  int port() const { return boundPort; }
  /// Accepts connections, on a thread of its own, each on another.
  void start();
  /// Accepts no more, lets requests that have begun end within `patience`, and
  /// then closes what is left.
  void stop(std::chrono::milliseconds patience);
  /// Every answer from now on is the last of its connection.
  void closeAfterAnswers() { closing = true; }

  size_t bodyLimit() const { return limits.bodyBytes; }
  size_t connections() const { return count; }
  /// Requests whose answer is not complete.
  size_t requests() const { return busy; }

private:
  // The library would call these two from its own loop, which never runs.
  bool process_and_close_socket(socket_t) override { return false; }

  void acceptAll();
  void serve(int socket);
  void prepare(httplib::Request &request, Connection &connection) const;
  void refuse(int socket) const;

  const ConnectionLimits &limits;
  size_t maxConnections;
  int boundPort = 0;
  int wake = -1; ///< an eventfd that ends acceptAll()
  std::thread acceptor;
  std::atomic<size_t> count = 0, busy = 0;
  std::atomic<bool> closing = false;
  std::mutex mutex; ///< of `open`
  std::condition_variable changed;
  std::set<Connection *> open;
};

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_HTTPSERVER_H
