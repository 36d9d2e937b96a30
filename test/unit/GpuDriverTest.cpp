//===- GpuDriverTest.cpp - Drivers found, refused and described -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/FakeDriver.h"

#include <algorithm>

using namespace gist;
using namespace gist::test;

namespace {
/// What opening a driver finds, with drivers that are missing, old or broken.
class GpuDriver : public ::testing::TestWithParam<std::string> {
protected:
  bool isHip() const { return GetParam() == "hip"; }

  /// What opening the device says.
  std::string message(int index = 0) const {
    std::unique_ptr<Device> device;
    return driver.open(device, index).text;
  }

  Status supports(const std::string &target, const std::string &kind,
                  CodeFormat format) const {
    std::unique_ptr<Device> device;
    Status status = driver.open(device);
    EXPECT_TRUE(status.ok()) << status.text;
    return device->supports({.name = target, .device = kind, .format = format});
  }

  FakeDriver driver{GetParam()};
  std::string title = isHip() ? "HIP" : "CUDA";
  std::string description =
      title + (isHip() ? " 6.0 (" : " 12.4 (") + driver.path + ")";
};
} // namespace

// What gist-run devices prints. Opening alone must not leave a context behind.
TEST_P(GpuDriver, Describes) {
  driver.set("memory", 5000);
  std::unique_ptr<Device> device;
  ASSERT_TRUE(driver.open(device).ok());
  DeviceInfo info = device->info();
  EXPECT_EQ(info.kind, GetParam());
  EXPECT_EQ(info.name, "Fake card 0");
  EXPECT_EQ(info.driver, description);
  EXPECT_EQ(info.architecture, isHip() ? "gfx942:sramecc+:xnack-" : "sm_90");
  EXPECT_EQ(info.parallelism, 4u);
  EXPECT_EQ(info.memoryTotal, 5000u);
  EXPECT_EQ(info.memoryFree, 5000u);
  EXPECT_TRUE(device->numbersByAddress());
  device.reset();
  driver.expectNothingLeft();
}

// Negative numbers are out of range like large ones.
TEST_P(GpuDriver, SeveralCards) {
  driver.set("cards", 3);
  int count = 0;
  DeviceOptions options{.library = driver.path};
  ASSERT_TRUE(countDevices(GetParam(), options, count).ok());
  EXPECT_EQ(count, 3);
  std::unique_ptr<Device> device;
  ASSERT_TRUE(driver.open(device, 2).ok());
  EXPECT_EQ(device->info().name, "Fake card 2");
  EXPECT_EQ(message(3), "there is no " + GetParam() + " device 3; " +
                            description + " sees 3, counted from 0");
  EXPECT_EQ(message(-1), "there is no " + GetParam() + " device -1; " +
                             description + " sees 3, counted from 0");
}

// The loader's own reason is passed on.
TEST_P(GpuDriver, Missing) {
  std::unique_ptr<Device> device;
  Status status =
      openDevice(GetParam(), {.library = "/nowhere/lib.so"}, device);
  EXPECT_EQ(status.code, Code::NotFound);
  EXPECT_EQ(status.text,
            "cannot open the " + title +
                " driver: /nowhere/lib.so: cannot open shared object file: No "
                "such file or directory");
  // The other driver is a library, but not this driver.
  std::string other = isHip() ? GIST_TEST_FAKE_CUDA : GIST_TEST_FAKE_HIP;
  EXPECT_EQ(openDevice(GetParam(), {.library = other}, device).text,
            other + " is not a " + title + " driver: it has no function " +
                (isHip() ? "hipRuntimeGetVersion" : "cuDriverGetVersion"));
}

// An old driver would fail later, at a function that it lacks.
TEST_P(GpuDriver, TooOld) {
  // HIP counts 10^7 for a major version and 10^5 for a minor one, CUDA 1000
  // and 10.
  driver.set("version", isHip() ? 50730201 : 11070);
  EXPECT_EQ(message(),
            "the " + title + " driver " + driver.path + " is version " +
                (isHip() ? "5.7; 6.0" : "11.7; 11.8") + " or newer is needed");
}

// A driver without a card is common in containers.
TEST_P(GpuDriver, NoCard) {
  driver.set("cards", 0);
  EXPECT_EQ(message(), description + " sees no card");
}

// The driver's words and its code are both in the sentence.
TEST_P(GpuDriver, DoesNotStart) {
  // Any code but success; the fake has one sentence for all of them.
  driver.set("fail_init", 3);
  EXPECT_EQ(message(), "the " + title + " driver could not look for cards: " +
                           (isHip() ? "something is wrong (hipErrorFake)"
                                    : "something is wrong (CUDA_ERROR_FAKE)"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, GpuDriver, ::testing::Values("hip", "cuda"),
                         [](const auto &info) { return info.param; });

namespace {
class HipDriver : public GpuDriver {};
class CudaDriver : public GpuDriver {};
} // namespace

// A feature that the code does not name may be on or off; one that it names
// must be as the card has it.
TEST_P(HipDriver, Supports) {
  auto fits = [&](const char *target) {
    return supports(target, "hip", CodeFormat::Hsaco);
  };
  for (const char *target :
       {"gfx942", "gfx942:xnack-", "gfx942:sramecc+", "gfx942:sramecc+:xnack-"})
    EXPECT_TRUE(fits(target).ok()) << target;
  for (const char *target : {"gfx90a", "gfx9", "gfx942a", "gfx942:xnack+", ""})
    EXPECT_EQ(fits(target).text,
              "is code for " + std::string(target) +
                  ", but this device is gfx942:sramecc+:xnack-");
  EXPECT_EQ(supports("sm_90", "cuda", CodeFormat::Ptx).text,
            "is code for cuda");
}

// Without a name nothing can be compared, and nothing is loaded on trust.
TEST_P(HipDriver, ArchitectureUnknown) {
  driver.set("gfx", 0);
  EXPECT_EQ(supports("gfx942", "hip", CodeFormat::Hsaco).text,
            "is code for gfx942, but the driver does not say which "
            "architecture Fake card 0 has");
}

INSTANTIATE_TEST_SUITE_P(Hip, HipDriver, ::testing::Values("hip"));

// Plain PTX runs on the card and newer ones, "a" on that card alone, "f" on
// newer ones of its family.
TEST_P(CudaDriver, Supports) {
  struct Case {
    const char *target;
    long capability;
    bool fits;
  };
  for (Case c : {Case{"sm_90", 90, true},
                 {"sm_90", 89, false},
                 {"sm_90", 100, true},
                 {"sm_90a", 90, true},
                 {"sm_90a", 100, false},
                 {"sm_90a", 89, false},
                 {"sm_100f", 103, true},
                 {"sm_100f", 100, true},
                 {"sm_103f", 100, false},
                 {"sm_100f", 120, false},
                 {"sm_90x", 90, false},
                 {"sm_", 90, false},
                 {"sm_90ab", 90, false},
                 {"gfx942", 90, false}}) {
    driver.set("capability", c.capability);
    Status status = supports(c.target, "cuda", CodeFormat::Ptx);
    EXPECT_EQ(status.ok(), c.fits) << c.target << " on " << c.capability;
    if (!c.fits) {
      EXPECT_EQ(status.text, "is code for " + std::string(c.target) +
                                 ", but this device is sm_" +
                                 std::to_string(c.capability));
    }
  }
  EXPECT_EQ(supports("cpu", "cpu", CodeFormat::Elf).text, "is code for cpu");
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaDriver, ::testing::Values("cuda"));

// Where no driver is installed every name that was tried is in the sentence.
TEST(Devices, UsualNames) {
  std::unique_ptr<Device> device;
  Status status = openDevice("hip", {}, device);
  if (status.ok() || status.code != Code::NotFound)
    GTEST_SKIP() << "there is a HIP driver here";
  size_t at = 0;
  for (const char *name :
       {"libamdhip64.so.7,", "libamdhip64.so.6,", "libamdhip64.so.5,"}) {
    at = status.text.find(name, at);
    ASSERT_NE(at, std::string::npos) << name << " in " << status.text;
  }
}
