//===- ModuleCache.cpp - Modules that are compiled once -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/ModuleCache.h"

#include "runtime/device/CpuFeatures.h"
#include "runtime/format/Devices.h"
#include "runtime/support/AtomicFile.h"
#include "runtime/support/MappedFile.h"
#include "runtime/support/Sha256.h"
#include "tools/running/Compiler.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/utsname.h>

using namespace gist;
using namespace gist::run;
namespace fs = std::filesystem;

static constexpr const char *kModulesFolder = "/modules";
static constexpr const char *kHashesFolder = "/hashes";
static constexpr const char *kEnding = ".gist";
/// Hexadecimal digits of a key in the name of a file: 128 bits.
static constexpr size_t kKeyDigits = 32;

bool run::isModel(const std::string &path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return true;
  char magic[4] = {};
  std::ifstream file(path, std::ios::binary);
  return file.read(magic, sizeof(magic)) &&
         std::memcmp(magic, "GGUF", sizeof(magic)) == 0;
}

//===----------------------------------------------------------------------===//
// The folder and what is in it
//===----------------------------------------------------------------------===//

Status run::cacheFolder(std::string &folder) {
  for (auto [name, inside] :
       {std::pair("XDG_CACHE_HOME", "/gist"), {"HOME", "/.cache/gist"}}) {
    const char *value = std::getenv(name);
    if (value && value[0] == '/') {
      folder = std::string(value) + inside;
      return {};
    }
  }
  return Status::error(Code::NotFound,
                       "compiled models have no place: neither XDG_CACHE_HOME "
                       "nor HOME is an absolute path; compile the model with "
                       "'gist-compile MODEL -o FILE'");
}

Status run::cacheLimit(uint64_t &bytes) {
  constexpr double kDefault = 32, kMost = 1 << 20; // GiB
  double size = kDefault;
  const char *value = std::getenv("GIST_CACHE_SIZE");
  char *end = nullptr;
  if (value && *value)
    size = std::strtod(value, &end);
  if (end && (*end != '\0' || !(size >= 0 && size <= kMost)))
    return Status::error(Code::BadArgument,
                         "GIST_CACHE_SIZE is '%s'; expected GiB, such as 32",
                         value);
  bytes = static_cast<uint64_t>(size * (1 << 30));
  return {};
}

Status run::listCache(std::vector<CacheEntry> &entries) {
  std::string folder;
  GIST_TRY(cacheFolder(folder));
  entries.clear();
  std::error_code error;
  // Another program may remove modules at the same time.
  for (fs::directory_iterator it(folder + kModulesFolder, error), end;
       !error && it != end; it.increment(error)) {
    CacheEntry entry;
    entry.path = it->path().string();
    std::string stem = it->path().stem().string();
    struct stat info = {};
    if (it->path().extension() != kEnding || stem.size() <= kKeyDigits ||
        ::stat(entry.path.c_str(), &info) != 0)
      continue;
    entry.name = stem.substr(0, stem.size() - kKeyDigits - 1);
    entry.bytes = static_cast<uint64_t>(info.st_size);
    entry.used = info.st_mtime;
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const CacheEntry &one, const CacheEntry &other) {
              return std::pair(other.used, one.path) <
                     std::pair(one.used, other.path);
            });
  return {};
}

Status run::trimCache(uint64_t limit, const std::string &keep) {
  std::vector<CacheEntry> entries;
  GIST_TRY(listCache(entries));
  uint64_t total = 0;
  for (const CacheEntry &entry : entries)
    total += entry.bytes;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (total <= limit)
      return {};
    if (entry->path == keep)
      continue;
    std::error_code error;
    // A program that runs the module has it mapped, and keeps it.
    fs::remove(entry->path, error);
    if (error)
      return Status::error(Code::Io, "%s: cannot remove: %s",
                           entry->path.c_str(), error.message().c_str());
    total -= entry->bytes;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// What a model contains
//===----------------------------------------------------------------------===//

/// The file itself, or the files of a folder that the compiler may read, in the
/// order of their names. Sentence encoders have files one folder deeper.
static Status listFiles(const std::string &model,
                        std::vector<std::string> &files) {
  std::error_code error;
  files = {model};
  if (!fs::is_directory(model, error))
    return {};
  files.clear();
  if (!fs::is_regular_file(fs::path(model) / "config.json", error))
    return Status::error(
        Code::NotFound,
        "%s: the folder has no config.json; expected a Hugging "
        "Face folder, a GGUF file or a module",
        model.c_str());
  for (fs::recursive_directory_iterator it(model, error), end;
       !error && it != end; it.increment(error)) {
    if (it.depth() > 0)
      it.disable_recursion_pending();
    std::string ending = it->path().extension().string();
    for (const char *read :
         {".json", ".safetensors", ".txt", ".model", ".jinja"})
      if (ending == read && fs::is_regular_file(it->path(), error))
        files.push_back(it->path().string());
  }
  if (error)
    return Status::error(Code::Io, "%s: cannot read: %s", model.c_str(),
                         error.message().c_str());
  std::sort(files.begin(), files.end());
  return {};
}

static void add(Sha256 &hash, const std::string &text) {
  hash.update(uint64_t{text.size()});
  hash.update({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
}

/// Which version of a file this is, without reading it.
static Status addStamp(Sha256 &hash, const std::string &path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0)
    return Status::error(Code::NotFound, "%s: cannot open: %s", path.c_str(),
                         std::strerror(errno));
  for (int64_t number :
       {static_cast<int64_t>(info.st_dev), static_cast<int64_t>(info.st_ino),
        static_cast<int64_t>(info.st_size),
        static_cast<int64_t>(info.st_mtim.tv_sec),
        static_cast<int64_t>(info.st_mtim.tv_nsec),
        static_cast<int64_t>(info.st_ctim.tv_sec),
        static_cast<int64_t>(info.st_ctim.tv_nsec)})
    hash.update(static_cast<uint64_t>(number));
  return {};
}

static Status hashFiles(const std::string &model,
                        const std::vector<std::string> &files,
                        std::string &result) {
  Sha256 hash;
  for (const std::string &path : files) {
    // The name inside of a folder counts; where the model lies does not.
    add(hash, path.substr(std::min(model.size(), path.size())));
    std::unique_ptr<MappedFile> file;
    GIST_TRY(MappedFile::open(path, file).in(path));
    hash.update(file->bytes().size);
    hash.update(file->bytes());
  }
  result = hash.finish();
  return {};
}

/// The hash of a large file takes seconds, so it is kept by what tells that the
/// file is still the same.
static Status hashOnce(const std::string &folder, const std::string &model,
                       const std::vector<std::string> &files,
                       std::string &result) {
  Sha256 stamps;
  for (const std::string &path : files)
    GIST_TRY(addStamp(stamps, path));
  std::string note = folder + kHashesFolder + "/" + stamps.finish();
  constexpr size_t kDigits = 64;
  if (std::ifstream known(note); known) {
    std::getline(known, result);
    if (result.size() == kDigits)
      return {};
  }
  GIST_TRY(hashFiles(model, files, result));
  // A note that cannot be kept costs time alone.
  (void)writeWhole(note, result + "\n").ok();
  return {};
}

/// Where a module can run: a home folder may be shared by several machines.
static std::string describeMachine(const std::string &target) {
  if (target != targetOfDevice(kCpuDevice))
    return target;
  std::string text = target;
  utsname system = {};
  if (::uname(&system) == 0)
    text += std::string(" ") + system.machine;
  for (const std::string &feature : hostCpuFeatures())
    text += " " + feature;
  return text;
}

/// "model" of "path/to/model.gguf" and of "path/to/model/", short enough for
/// the name of a file.
static std::string nameOf(const std::string &model) {
  fs::path path = fs::path(model).lexically_normal();
  if (!path.has_filename())
    path = path.parent_path();
  std::string name =
      path.extension() == ".gguf" ? path.stem() : path.filename();
  constexpr size_t kMost = 120;
  name.resize(std::min(name.size(), kMost));
  return name;
}

Status run::findCached(const std::string &model, const std::string &target,
                       const std::string &compiler, CachedModule &result) {
  std::vector<std::string> files;
  GIST_TRY(listFiles(model, files));
  std::string folder;
  GIST_TRY(cacheFolder(folder));
  std::error_code error;
  for (const char *inside : {kModulesFolder, kHashesFolder})
    if (fs::create_directories(folder + inside, error); error)
      return Status::error(Code::Io, "%s: cannot make the folder: %s",
                           folder.c_str(), error.message().c_str());
  std::string content;
  GIST_TRY(hashOnce(folder, model, files, content));
  Sha256 hash;
  add(hash, content);
  add(hash, describeMachine(target));
  GIST_TRY(addStamp(hash, compiler));
  std::string key = hash.finish().substr(0, kKeyDigits);

  result.exists = false;
  result.path =
      folder + kModulesFolder + "/" + nameOf(model) + "-" + key + kEnding;
  std::vector<CacheEntry> entries;
  GIST_TRY(listCache(entries));
  // The same content may have had another name.
  for (const CacheEntry &entry : entries)
    if (fs::path(entry.path).stem().string().ends_with("-" + key)) {
      result = {entry.path, true};
      // The time of the last use decides what is removed.
      ::utimensat(AT_FDCWD, entry.path.c_str(), nullptr, 0);
    }
  return {};
}

Status run::compileOnce(const std::string &device, std::string &path) {
  if (!isModel(path))
    return {};
  const char *target = targetOfDevice(device);
  if (!target)
    return Status::error(Code::BadArgument,
                         "there is no device '%s'; expected cpu, hip or cuda",
                         device.c_str());
  uint64_t limit = 0;
  GIST_TRY(cacheLimit(limit));
  std::string compiler;
  if (Status found = findProgram("gist-compile", "", compiler); !found.ok())
    return Status::error(found.code,
                         "%s: a model must be compiled before it runs, and %s; "
                         "it is in the component 'compiler' of Gist",
                         path.c_str(), found.text.c_str());
  CachedModule cached;
  GIST_TRY(findCached(path, target, compiler, cached));
  if (!cached.exists) {
    std::fprintf(stderr,
                 "%s: note: compiling %s for this machine, once ('gist-run "
                 "cache' lists what is kept)\n",
                 program_invocation_short_name, path.c_str());
    // A bar on a terminal, and nothing elsewhere.
    Status status =
        runProgram({compiler, path, "-o", cached.path,
                    std::string("--target=") + target, "--progress=bar"});
    if (!status.ok())
      return Status::error(status.code, "%s was not compiled", path.c_str());
    GIST_TRY(trimCache(limit, cached.path));
  }
  path = cached.path;
  return {};
}
