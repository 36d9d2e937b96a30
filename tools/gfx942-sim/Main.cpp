//===- Main.cpp - gfx942-sim: run one kernel of a code object -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The command line of the simulator: one kernel, buffers from files and to
// files. Exit status: 0 done, 1 a finding or a failure, 2 wrong usage. The
// counters are printed even when the kernel failed.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Format.h"
#include "tools/simulator/Simulator.h"

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

using namespace gist::sim;

static const char kUsage[] =
    R"(usage: gfx942-sim CODE-OBJECT [options] [arguments]

Runs a kernel of a gfx942 code object on the host.

options:
  --kernel NAME        kernel to run (default: the only one)
  --grid X[,Y[,Z]]     workgroups (default 1)
  --block X[,Y[,Z]]    work-items per workgroup (default 64)
  --dynamic-lds BYTES  LDS beyond what the kernel declares
  --threads N          host threads (default: all cores)
  --no-checks          bounds only; about twice as fast
  --unaligned          allow misaligned accesses of LDS and scratch
  --strict-alignment   report misaligned accesses of global memory
  --max-instructions N per wave, then it counts as hanging
  --counters           print counters on stdout
  --time               print instructions and MFMA per second on stdout
  --list               print the kernels and their arguments, run nothing

arguments, in the kernel's order:
  in:FILE              a buffer with the content of FILE
  out:FILE:BYTES       a buffer of zeros, written to FILE afterwards
  inout:FILE:FILE2     a buffer with the content of FILE, written to FILE2
  zero:BYTES           a buffer of zeros
  iota:COUNT           a buffer of COUNT 32-bit integers 0, 1, 2, ...
  i32:N i64:N f32:X    a scalar
)";

namespace {
/// A buffer in the memory that the kernel sees.
struct Buffer {
  std::unique_ptr<uint8_t[]> bytes;
  uint64_t size = 0;
  std::string output; ///< File to write afterwards, or empty.
};

/// What the command line says; `arguments` are turned into bytes when the code
/// object is known.
struct Options {
  std::string file, kernel;
  LaunchRequest request;
  Config config;
  bool counters = false, time = false, list = false;
  // As given. Files are opened only after the code object has been read.
  std::vector<std::string> arguments;
};
} // namespace

/// The whole of `text` as a number from `least` to `most`; hexadecimal after
/// 0x. strtoull alone would take "x" for 0 and "-1" for the largest there is.
static bool parseNumber(const std::string &text, int64_t least, uint64_t most,
                        uint64_t &number) {
  bool isNegative = !text.empty() && text[0] == '-';
  const char *digits = text.c_str() + (isNegative ? 1 : 0);
  char *end = nullptr;
  errno = 0;
  uint64_t size = std::strtoull(digits, &end, 0);
  // Nor are spaces and a second sign digits.
  if (!std::isdigit(static_cast<unsigned char>(*digits)) || *end != '\0' ||
      errno != 0)
    return false;
  number = isNegative ? 0 - size : size;
  return isNegative ? size <= 0 - static_cast<uint64_t>(least) : size <= most;
}

/// X, X,Y or X,Y,Z. An axis of 0 would launch nothing.
static bool parseDims(const std::string &text, Dim3 &dims) {
  // Axes that are left out keep 1.
  uint32_t *axes[] = {&dims.x, &dims.y, &dims.z};
  size_t at = 0;
  for (uint32_t *axis : axes) {
    size_t comma = text.find(',', at);
    uint64_t number = 0;
    // As many as a launch can have.
    if (!parseNumber(text.substr(at, comma - at), 0, INT32_MAX, number) ||
        number == 0)
      return false;
    *axis = static_cast<uint32_t>(number);
    if (comma == std::string::npos)
      return true;
    at = comma + 1;
  }
  return false;
}

/// False if it cannot be opened or read.
static bool readFile(const std::string &name, std::vector<uint8_t> &bytes) {
  std::ifstream stream(name, std::ios::binary);
  if (!stream)
    return false;
  bytes.assign(std::istreambuf_iterator<char>(stream), {});
  // End of file is not an error here.
  return !stream.bad();
}

/// The memory of a card. A larger buffer would not fit this machine either.
static constexpr uint64_t kMostBytes = uint64_t(192) << 30;

/// A fresh allocation: its own, so that a neighbour is out of bounds. Without
/// bytes where this machine has no memory for it.
static Buffer makeBuffer(uint64_t size) {
  Buffer buffer;
  buffer.size = size;
  // Zeros, as out: and zero: promise. An empty buffer still needs an address of
  // its own.
  buffer.bytes.reset(new (std::nothrow) uint8_t[size ? size : 1]());
  return buffer;
}

/// Appends one argument's bytes to the kernarg segment, naturally aligned.
/// Compilers lay arguments out like this; --list shows where they expect them.
template <typename T> static void append(std::vector<uint8_t> &bytes, T value) {
  bytes.resize((bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
  const auto *raw = reinterpret_cast<const uint8_t *>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
}

/// Nothing, or what is wrong. Buffers become pointers; the kernel's metadata is
/// compared with the size of all arguments at the launch.
static std::optional<std::string> addArgument(const std::string &text,
                                              std::vector<Buffer> &buffers,
                                              std::vector<uint8_t> &kernarg) {
  size_t colon = text.find(':');
  if (colon == std::string::npos)
    return "argument '" + text + "' has no kind; see --help";
  std::string kind = text.substr(0, colon), value = text.substr(colon + 1);
  uint64_t number = 0;
  auto refuse = [&](const char *what) {
    return "argument '" + text + "' needs " + what;
  };
  // The bits count: 0xffffffff and -1 are the same.
  if (kind == "i32") {
    if (!parseNumber(value, INT32_MIN, UINT32_MAX, number))
      return refuse("a number of 32 bits");
    append(kernarg, static_cast<uint32_t>(number));
    return std::nullopt;
  }
  if (kind == "i64") {
    if (!parseNumber(value, INT64_MIN, UINT64_MAX, number))
      return refuse("a number of 64 bits");
    append(kernarg, number);
    return std::nullopt;
  }
  if (kind == "f32") {
    char *end = nullptr;
    append(kernarg, std::strtof(value.c_str(), &end));
    if (end == value.c_str() || *end != '\0')
      return refuse("a number");
    return std::nullopt;
  }
  std::string second;
  if (kind == "out" || kind == "inout") {
    // From the right, because a path may have colons.
    size_t split = value.rfind(':');
    if (split == std::string::npos)
      return "argument '" + text + "' needs two parts after its kind";
    second = value.substr(split + 1);
    value = value.substr(0, split);
  }
  Buffer buffer;
  if (kind == "in" || kind == "inout") {
    std::vector<uint8_t> content;
    if (!readFile(value, content))
      return "cannot read '" + value + "'";
    buffer = makeBuffer(content.size());
    if (buffer.bytes)
      std::memcpy(buffer.bytes.get(), content.data(), content.size());
    buffer.output = second;
  } else if (kind == "out") {
    if (!parseNumber(second, 0, kMostBytes, number))
      return refuse("a number of bytes, up to 192 GiB");
    buffer = makeBuffer(number);
    buffer.output = value;
  } else if (kind == "zero") {
    if (!parseNumber(value, 0, kMostBytes, number))
      return refuse("a number of bytes, up to 192 GiB");
    buffer = makeBuffer(number);
  } else if (kind == "iota") {
    if (!parseNumber(value, 0, kMostBytes / 4, number))
      return refuse("a number of words, up to 192 GiB of them");
    buffer = makeBuffer(4 * number);
    for (uint64_t i = 0; buffer.bytes && i < number; ++i)
      reinterpret_cast<uint32_t *>(buffer.bytes.get())[i] =
          static_cast<uint32_t>(i);
  } else {
    return "argument '" + text + "' has an unknown kind; see --help";
  }
  if (!buffer.bytes)
    return refuse("more memory than this machine has");
  // Device addresses are host addresses (Memory.h).
  append(kernarg, reinterpret_cast<uint64_t>(buffer.bytes.get()));
  buffers.push_back(std::move(buffer));
  return std::nullopt;
}

/// False on a bad command line.
static bool parseOptions(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string text = argv[i];
    auto value = [&](std::string &out) {
      if (i + 1 >= argc)
        return false;
      out = argv[++i];
      return true;
    };
    std::string word;
    if (text == "--counters") {
      options.counters = true;
    } else if (text == "--time") {
      options.time = true;
    } else if (text == "--list") {
      options.list = true;
    } else if (text == "--no-checks") {
      options.config.checks = false;
    } else if (text == "--unaligned") {
      options.config.alignment = Alignment::None;
    } else if (text == "--strict-alignment") {
      options.config.alignment = Alignment::Strict;
    } else if (text == "--kernel") {
      if (!value(options.kernel))
        return false;
    } else if (text == "--grid") {
      if (!value(word) || !parseDims(word, options.request.workgroups))
        return false;
    } else if (text == "--block") {
      if (!value(word) || !parseDims(word, options.request.workgroupSize))
        return false;
    } else if (text == "--dynamic-lds" || text == "--threads" ||
               text == "--max-instructions") {
      uint64_t number = 0;
      uint64_t most = text == "--max-instructions" ? UINT64_MAX : UINT32_MAX;
      if (!value(word) || !parseNumber(word, 0, most, number))
        return false;
      if (text == "--threads")
        options.config.threads = static_cast<unsigned>(number);
      else if (text == "--dynamic-lds")
        options.request.dynamicLds = static_cast<uint32_t>(number);
      else
        options.config.maxInstructions = number;
    } else if (text.starts_with("--")) {
      return false;
    } else if (options.file.empty()) {
      options.file = text;
    } else {
      options.arguments.push_back(text);
    }
  }
  return !options.file.empty();
}

/// After a failed launch nothing is written: the content would be half done.
static std::string writeOutputs(const std::vector<Buffer> &buffers) {
  for (const Buffer &buffer : buffers) {
    if (buffer.output.empty())
      continue;
    std::ofstream stream(buffer.output, std::ios::binary);
    stream.write(reinterpret_cast<const char *>(buffer.bytes.get()),
                 static_cast<std::streamsize>(buffer.size));
    if (!stream)
      return "cannot write '" + buffer.output + "'";
  }
  return "";
}

/// What went wrong, or nothing.
static std::string run(Options &options) {
  std::vector<uint8_t> file;
  if (!readFile(options.file, file))
    return "cannot read '" + options.file + "'";
  MemoryMap memory;
  std::string error;
  auto object = CodeObject::load(file.data(), file.size(), memory, error);
  if (!object)
    return options.file + ": " + error;
  if (options.list) {
    for (const Kernel &kernel : object->getKernels()) {
      // Both kinds of registers are one file, which the accumulation offset
      // splits.
      std::printf("%s lds=%u scratch=%u vgpr=%u agpr=%u\n", kernel.name.c_str(),
                  kernel.ldsSize, kernel.scratchSize, kernel.accumOffset,
                  kernel.vectorRegisters - kernel.accumOffset);
      for (const KernelArgument &argument : kernel.arguments)
        std::printf("  offset %u, %u bytes, %s\n", argument.offset,
                    argument.size, argument.kind.c_str());
    }
    return "";
  }
  if (options.kernel.empty() && object->getKernels().size() == 1)
    options.kernel = object->getKernels()[0].name;
  options.request.kernel = object->findKernel(options.kernel);
  if (!options.request.kernel)
    return "no kernel '" + options.kernel + "' in " + options.file;

  std::vector<Buffer> buffers;
  for (const std::string &argument : options.arguments)
    if (auto problem =
            addArgument(argument, buffers, options.request.arguments))
      return *problem;
  // Added when all arguments are known to be right.
  for (const Buffer &buffer : buffers)
    memory.add(buffer.bytes.get(), buffer.size);

  // Filled up to the instruction that failed, too.
  Counters counters;
  auto start = std::chrono::steady_clock::now();
  // The time includes the checks, and is unrelated to a card's.
  error = launch(options.request, memory, options.config, counters);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  if (options.counters)
    std::fputs(counters.text().c_str(), stdout);
  if (options.time)
    std::printf(
        "seconds %.6f\ninstructions_per_second %.0f\n"
        "mfma_per_second %.0f\n",
        seconds.count(), double(counters.totalInstructions()) / seconds.count(),
        double(counters.instructions[static_cast<size_t>(OpClass::Mfma)]) /
            seconds.count());
  return error.empty() ? writeOutputs(buffers) : error;
}

int main(int argc, char **argv) {
  Options options;
  // One wave by default.
  options.request.workgroupSize.x = kLanes;
  if (argc == 2 && !std::strcmp(argv[1], "--help")) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (argc == 2 && !std::strcmp(argv[1], "--version")) {
    std::puts("gfx942-sim " GIST_VERSION);
    return 0;
  }
  if (!parseOptions(argc, argv, options)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  std::string error = run(options);
  if (!error.empty()) {
    std::fprintf(stderr, "gfx942-sim: error: %s\n", error.c_str());
    return 1;
  }
  return 0;
}
