//===- FakeDriver.h - The fake GPU drivers, from a test ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TEST_UNIT_FAKEDRIVER_H
#define GIST_TEST_UNIT_FAKEDRIVER_H

#include "runtime/device/Device.h"
#include "test/unit/FakeGpu.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <string>

namespace gist::test {

/// One of the two libraries; the runtime opens the same one.
class FakeDriver {
public:
  /// Settings are those of the process, so each test begins with a reset.
  /// The loader knows a library by its path: this handle and the runtime's are
  /// one library with one state.
  explicit FakeDriver(const std::string &kind)
      : kind(kind),
        path(kind == "hip" ? GIST_TEST_FAKE_HIP : GIST_TEST_FAKE_CUDA),
        library(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    find<void()>("gistFakeReset")();
  }
  ~FakeDriver() { ::dlclose(library); }
  FakeDriver(const FakeDriver &) = delete;
  FakeDriver &operator=(const FakeDriver &) = delete;

  /// Names of settings and counts are those of FakeGpu.h.
  void set(const char *name, long value) const {
    ASSERT_TRUE(find<int(const char *, long)>("gistFakeSet")(name, value));
  }
  long count(const char *name) const {
    return find<long(const char *)>("gistFakeCount")(name);
  }
  void reset() const { find<void()>("gistFakeReset")(); }
  void forget() const { find<void()>("gistFakeForget")(); }
  /// As a user would, by the path of the library.
  Status open(std::unique_ptr<Device> &device, int index = 0) const {
    return openDevice(kind, {.index = index, .library = path}, device);
  }
  /// Nothing that was made is still there.
  void expectNothingLeft() const {
    for (const char *name : {"allocations", "streams", "events", "modules",
                             "graphs", "executables", "contexts"})
      EXPECT_EQ(count(name), 0) << name;
  }

  const std::string kind, path;

private:
  template <typename Function> Function *find(const char *name) const {
    return reinterpret_cast<Function *>(::dlsym(library, name));
  }
  void *library;
};

} // namespace gist::test

#endif // GIST_TEST_UNIT_FAKEDRIVER_H
