//===- ToolOutput.cpp - what a tool leaves behind -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Target/ToolOutput.h"
#include "aicf/Version.h"
#include "lib/Base/File.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace aicf;

LogicalResult aicf::writeToolOutput(StringRef path, ArrayRef<uint8_t> bytes,
                                    std::string &error) {
  if (path != "-") {
    Status written =
        writeFileAtomically(path.str(), {bytes.data(), bytes.size()});
    error = written.ok() ? "" : written.toString();
    return success(written.ok());
  }
  llvm::raw_fd_ostream &out = llvm::outs();
  out.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  out.flush();
  if (!out.has_error())
    return success();
  error = "cannot write to standard output: " + out.error().message();
  out.clear_error(); // or it aborts at exit
  return failure();
}

void aicf::addVersionPrinter(const char *tool) {
  llvm::setBugReportMsg(
      "PLEASE submit a bug report to AICF: this stack, and the "
      "text that the tool read.\n");
  llvm::cl::SetVersionPrinter([tool](llvm::raw_ostream &os) {
    os << tool << " " << versionText() << ", LLVM " << LLVM_VERSION_STRING
       << "\n";
  });
}

void aicf::hideRegisteredOptions() {
  static llvm::cl::OptionCategory ours("options"); // of which there are none yet
  llvm::cl::HideUnrelatedOptions(ours);
}
