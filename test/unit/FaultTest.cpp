//===- FaultTest.cpp - Every call that can fail, failing ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model is loaded and generates a text, again and again. Each time the next
// allocation, system call or call of a driver fails: that one alone, or it and
// all after it. What comes back must be an error with a sentence, or the right
// text where the runtime can do without. Nothing may be left allocated, and the
// next run must work.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Generator.h"
#include "runtime/session/Session.h"
#include "test/unit/FakeDriver.h"
#include "test/unit/FakeGpu.h"
#include "test/unit/TinyModel.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <new>
#include <optional>
#include <sys/mman.h>

using namespace gist;
using namespace gist::test;

namespace {
/// Which of this thread's calls of one kind fails.
struct Faults {
  int64_t count = 0;  ///< calls so far
  int64_t wanted = 0; ///< the one that fails; 0: none
  bool stay = false;  ///< and all after it
  int64_t injected = 0;

  bool isFault() {
    ++count;
    bool fault = wanted != 0 && (count == wanted || (stay && count > wanted));
    injected += fault;
    return fault;
  }
};
} // namespace

static thread_local Faults allocations, systemCalls;
/// Objects that are allocated now, by all threads.
static std::atomic<int64_t> live = 0;

void *operator new(size_t size) {
  if (allocations.isFault())
    throw std::bad_alloc();
  void *memory = std::malloc(size);
  if (!memory)
    throw std::bad_alloc();
  ++live;
  return memory;
}
void *operator new(size_t size, std::align_val_t alignment) {
  if (allocations.isFault())
    throw std::bad_alloc();
  auto align = static_cast<size_t>(alignment);
  void *memory = std::aligned_alloc(align, (size + align - 1) / align * align);
  if (!memory)
    throw std::bad_alloc();
  ++live;
  return memory;
}
static void release(void *memory) {
  live -= memory != nullptr;
  std::free(memory);
}
void operator delete(void *memory) noexcept { release(memory); }
void operator delete(void *memory, size_t) noexcept { release(memory); }
void operator delete(void *memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void *memory, size_t, std::align_val_t) noexcept {
  release(memory);
}

// The linker lets the runtime call these (--wrap).
extern "C" {
void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int file,
                  off_t offset) {
  if (!systemCalls.isFault())
    return __real_mmap(at, size, protection, flags, file, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}
int __real_memfd_create(const char *, unsigned);
int __wrap_memfd_create(const char *name, unsigned flags) {
  if (!systemCalls.isFault())
    return __real_memfd_create(name, flags);
  errno = EMFILE;
  return -1;
}
ssize_t __real_write(int, const void *, size_t);
ssize_t __wrap_write(int file, const void *bytes, size_t size) {
  if (!systemCalls.isFault())
    return __real_write(file, bytes, size);
  errno = ENOSPC;
  return -1;
}
}

namespace {
class Fault : public ::testing::Test {
protected:
  void SetUp() override {
    model.addGpu("gfx942", "hip", CodeFormat::Hsaco, GIST_FAKE_CODE);
    model.addGpu("sm_90", "cuda", CodeFormat::Ptx, GIST_FAKE_CODE);
    path = model.write(folder.file("m.gist"));
  }

  /// While it lives the test makes objects of its own, and no allocation fails.
  struct OwnObjects {
    OwnObjects() { std::swap(wanted, allocations.wanted); }
    ~OwnObjects() { std::swap(wanted, allocations.wanted); }
    int64_t wanted = 0;
  };

  /// From a file to a text, twice, so that lists of commands are recorded.
  Status generateText(const std::string &kind, const std::string &library,
                      std::vector<int32_t> &text) const {
    std::shared_ptr<const Module> module;
    GIST_TRY(Module::open(path, module));
    std::optional<OwnObjects> own(std::in_place);
    Tokenizer tokenizer;
    DeviceOptions options{.threads = 1, .library = library};
    own.reset();
    GIST_TRY(loadTokenizer(*module, tokenizer));
    std::unique_ptr<Device> device;
    GIST_TRY(openDevice(kind, options, device));
    std::unique_ptr<Session> session;
    GIST_TRY(Session::create(module, *device, {}, session));
    const int32_t prompt[] = {72, 101, 108, 108, 111};
    for (int i = 0; i < 2; ++i) {
      GIST_TRY(session->reset());
      GenerateResult result;
      GIST_TRY(generate(*session, tokenizer, prompt, {.maxTokens = 3}, nullptr,
                        result));
      text.swap(result.tokens);
    }
    return {};
  }

  /// Runs it with every fault. `arm` asks for fault number N, and `count` says
  /// how many there were since.
  void sweep(const char *what, const std::string &kind,
             const std::string &library,
             const std::function<void(int64_t number, bool stay)> &arm,
             const std::function<int64_t()> &count,
             const std::function<void(bool stay)> &check) {
    std::vector<int32_t> expected;
    ASSERT_TRUE(generateText(kind, library, expected).ok());
    ASSERT_EQ(expected.size(), 3u);
    int64_t injected = 0, refused = 0;
    for (bool stay : {false, true})
      for (int64_t number = 1;; ++number) {
        int64_t before = live;
        {
          std::vector<int32_t> text;
          arm(number, stay);
          Status status = generateText(kind, library, text);
          int64_t faults = count();
          arm(0, false);
          injected += faults;
          refused += !status.ok();
          if (status.ok())
            ASSERT_EQ(text, expected) << what << " " << number;
          else
            ASSERT_FALSE(status.text.empty()) << what << " " << number;
          if (faults == 0) {
            ASSERT_TRUE(status.ok()) << status.text;
            break;
          }
        }
        ASSERT_EQ(live, before) << what << " " << number << " leaks";
        check(stay);
        // The next run works.
        std::vector<int32_t> text;
        Status status = generateText(kind, library, text);
        ASSERT_TRUE(status.ok()) << what << " " << number << status.text;
        ASSERT_EQ(text, expected) << what << " " << number;
      }
    std::printf("%s, %s: %lld faults, %lld runs refused\n", what, kind.c_str(),
                static_cast<long long>(injected),
                static_cast<long long>(refused));
    EXPECT_GT(refused, 0);
  }

  void sweepThread(const char *what, const std::string &kind, Faults &faults,
                   const FakeDriver *driver) {
    sweep(
        what, kind, driver ? driver->path : "",
        [&](int64_t number, bool stay) {
          faults = {.wanted = number, .stay = stay};
        },
        [&] { return faults.injected; },
        [&](bool) {
          if (driver)
            driver->expectNothingLeft();
        });
  }
  void sweepDriver(const char *what, const FakeDriver &driver,
                   const char *setting) {
    sweep(
        what, driver.kind, driver.path,
        [&](int64_t number, bool stay) {
          // Objects of the test itself are not counted.
          driver.reset();
          driver.set(setting, static_cast<long>(number));
          driver.set("fault_stays", stay);
        },
        [&] { return driver.count("faults"); },
        [&](bool stay) {
          // A driver that no longer answers keeps what it has.
          if (stay)
            driver.forget();
          driver.expectNothingLeft();
        });
  }

  TemporaryFolder folder;
  TinyModel model;
  std::string path;
};
} // namespace

TEST_F(Fault, HostAllocations) {
  sweepThread("host allocations", "cpu", allocations, nullptr);
}

// Files that are mapped, memory of the CPU device, and the code.
TEST_F(Fault, SystemCalls) {
  sweepThread("system calls", "cpu", systemCalls, nullptr);
}

TEST_F(Fault, HostAllocationsBesideDrivers) {
  for (const char *kind : {"hip", "cuda"}) {
    FakeDriver driver(kind);
    sweepThread("host allocations", kind, allocations, &driver);
  }
}

TEST_F(Fault, DeviceAllocations) {
  for (const char *kind : {"hip", "cuda"})
    sweepDriver("device allocations", FakeDriver(kind), "fault_allocation");
}

TEST_F(Fault, DriverCalls) {
  for (const char *kind : {"hip", "cuda"})
    sweepDriver("driver calls", FakeDriver(kind), "fault_call");
}
