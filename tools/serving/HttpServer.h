//===- HttpServer.h - Connections and their requests ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accepts connections and limits their number and duration; each has a thread,
// which answers its requests one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_HTTPSERVER_H
#define GIST_TOOLS_SERVING_HTTPSERVER_H

#include "tools/serving/Connection.h"
#include "tools/serving/Http.h"

#include "runtime/support/Status.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace gist::serve {

class HttpServer {
public:
  /// Makes the answer to a request. With an error the request could not be read
  /// and may have nothing in it.
  using Handler = std::function<void(const HttpRequest &, const ApiError &,
                                     HttpResponse &)>;
  /// Learns of an answer that was sent.
  using Logger = std::function<void(const HttpRequest &, const HttpResponse &)>;

  /// `limits` outlives this.
  HttpServer(const ConnectionLimits &limits, size_t maxConnections);
  /// Ends all connections.
  ~HttpServer();
  HttpServer(const HttpServer &) = delete;
  HttpServer &operator=(const HttpServer &) = delete;

  /// Before start(). Both are called from many threads.
  void setHandler(Handler itsHandler, Logger itsLogger) {
    handler = std::move(itsHandler);
    logger = std::move(itsLogger);
  }

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
  void acceptAll();
  void serve(int socket);
  bool answer(Connection &connection);
  void refuse(int socket) const;

  const ConnectionLimits &limits;
  size_t maxConnections;
  Handler handler;
  Logger logger;
  int listener = -1, boundPort = 0;
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
