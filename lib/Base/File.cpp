//===- File.cpp - whole files in and out ----------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Base/File.h"
#include "lib/Base/BadAlloc.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace aicf {
namespace {

/// Closes on every way out.
struct Descriptor {
  int fd;
  explicit Descriptor(int fd) : fd(fd) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
};

Status systemError(const char *what, const std::string &path) {
  const int number = errno;
  return makeError(number == ENOENT ? StatusCode::FileNotFound
                                    : StatusCode::FileError,
                   "cannot ", what, " '", path, "': ", std::strerror(number));
}

Status writeAll(int fd, Span<const uint8_t> bytes, const std::string &path,
                bool sync) {
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return systemError("write", path);
    done += static_cast<size_t>(n);
  }
  return !sync || ::fsync(fd) == 0 ? Status() : systemError("sync", path);
}

} // namespace

static StatusOr<std::vector<uint8_t>> readAll(const std::string &path) {
  // O_NONBLOCK: opening a pipe that nobody writes must not hang.
  Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info;
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0)
    return systemError("open", path);
  if (!S_ISREG(info.st_mode))
    return makeError(StatusCode::FileError, "cannot read '", path,
                     "': not a regular file");
  std::vector<uint8_t> bytes(static_cast<size_t>(info.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t n = ::read(file.fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return systemError("read", path);
    if (n == 0)
      return makeError(StatusCode::FileError, "cannot read '", path,
                       "': ends after ", done, " of ", bytes.size(), " bytes");
    done += static_cast<size_t>(n);
  }
  return bytes;
}

StatusOr<std::vector<uint8_t>> readFile(const std::string &path) {
  return catchBadAlloc([&] { return readAll(path); });
}

namespace {

/// Where the bytes for a path go: a regular file is replaced, anything else (a
/// pipe, a device) is written into.
struct Target {
  std::string path;   ///< behind links
  std::string folder; ///< ends with '/'
  mode_t mode = 0644;
  bool isReplaced = true;
};

} // namespace

static StatusOr<Target> resolveTarget(const std::string &path) {
  Target target{path, "", 0644, true};
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) {
      errno = EISDIR;
      return systemError("write", path);
    }
    target.isReplaced = S_ISREG(info.st_mode);
    target.mode = info.st_mode & 0777; // a private file stays private
    char *real =
        target.isReplaced ? ::realpath(path.c_str(), nullptr) : nullptr;
    if (real) // the file behind a link is replaced, not the link
      target.path = real;
    std::free(real);
  } else if (errno != ENOENT || path.empty() ||
             ::lstat(path.c_str(), &info) == 0) {
    // Also a link to nothing: then it is stat()'s errno that stands here.
    return systemError("write", path);
  }
  size_t slash = target.path.rfind('/');
  target.folder =
      slash == std::string::npos ? "./" : target.path.substr(0, slash + 1);
  return target;
}

/// ".aicf-0123456789abcdef.tmp"
constexpr char kPrefix[] = ".aicf-", kSuffix[] = ".tmp";
static bool isTemporary(const std::string &name) {
  const size_t prefix = sizeof(kPrefix) - 1, suffix = sizeof(kSuffix) - 1;
  return name.size() == prefix + 16 + suffix &&
         name.compare(0, prefix, kPrefix) == 0 &&
         name.compare(prefix + 16, suffix, kSuffix) == 0 &&
         name.find_first_not_of("0123456789abcdef", prefix) == prefix + 16;
}

/// Removes what writers that were killed have left in a folder. One that lives
/// has its file locked. That of another machine, which shares the folder
/// without locks, was written to a minute ago at most.
static void removeLeftovers(const std::string &folder) {
  constexpr time_t kWritingSeconds = 60;
  std::unique_ptr<DIR, int (*)(DIR *)> listing(::opendir(folder.c_str()),
                                               ::closedir);
  while (const dirent *entry = listing ? ::readdir(listing.get()) : nullptr) {
    if (!isTemporary(entry->d_name))
      continue;
    std::string path = folder + entry->d_name;
    Descriptor file(
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    struct stat info;
    if (file.fd >= 0 && ::fstat(file.fd, &info) == 0 && S_ISREG(info.st_mode) &&
        info.st_mtime + kWritingSeconds < ::time(nullptr) &&
        ::flock(file.fd, LOCK_EX | LOCK_NB) == 0)
      ::unlink(path.c_str());
  }
}

/// Opens a file that was not there before, and says its name. The name is
/// random: those of processes repeat (pid 1 of every container), and a writer
/// that was killed leaves its file behind.
static StatusOr<int> openTemporary(const Target &target, std::string &name) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    uint64_t number = 0;
    if (::getrandom(&number, sizeof(number), 0) != ssize_t(sizeof(number)))
      break;
    char text[40];
    std::snprintf(text, sizeof(text), "%s%016llx%s", kPrefix,
                  static_cast<unsigned long long>(number), kSuffix);
    name = target.folder + text;
    int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                    target.mode);
    if (fd >= 0) {
      ::flock(fd, LOCK_SH | LOCK_NB); // see removeLeftovers()
      return fd;
    }
    if (errno != EEXIST)
      break;
  }
  return systemError("create a file beside", target.path);
}

static Status replaceFile(const Target &target, Span<const uint8_t> bytes) {
  removeLeftovers(target.folder); // which may be what fills the disk
  std::string temporary;
  AICF_ASSIGN_OR_RETURN(int fd, openTemporary(target, temporary));
  Status written;
  {
    Descriptor file(fd);
    written = writeAll(file.fd, bytes, temporary, /*sync=*/true);
  }
  if (written.ok() && ::rename(temporary.c_str(), target.path.c_str()) != 0)
    written = systemError("rename to", target.path);
  if (!written.ok()) {
    ::unlink(temporary.c_str());
    return written;
  }
  Descriptor directory(::open(target.folder.c_str(), O_RDONLY | O_CLOEXEC));
  if (directory.fd >= 0 && ::fsync(directory.fd) != 0)
    return systemError("sync", target.folder);
  return {};
}

/// Writes into what is there. A pipe that nobody reads is an error, no wait.
static Status writeThrough(const Target &target, Span<const uint8_t> bytes) {
  Descriptor file(::open(target.path.c_str(),
                         O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.fd < 0)
    return systemError("open", target.path);
  if (::fcntl(file.fd, F_SETFL, 0) != 0) // a reader that is slow is waited for
    return systemError("open", target.path);
  return writeAll(file.fd, bytes, target.path, /*sync=*/false);
}

Status checkWritable(const std::string &path) {
  AICF_ASSIGN_OR_RETURN(Target target, resolveTarget(path));
  const std::string &asked = target.isReplaced ? target.folder : target.path;
  int rights = target.isReplaced ? W_OK | X_OK : W_OK;
  if (::faccessat(AT_FDCWD, asked.c_str(), rights, AT_EACCESS) != 0)
    return systemError("write", path);
  return {};
}

Status writeFileAtomically(const std::string &path, Span<const uint8_t> bytes) {
  AICF_ASSIGN_OR_RETURN(Target target, resolveTarget(path));
  return target.isReplaced ? replaceFile(target, bytes)
                           : writeThrough(target, bytes);
}

} // namespace aicf
