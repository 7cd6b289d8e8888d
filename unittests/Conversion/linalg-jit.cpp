//===- linalg-jit.cpp - runs functions of a module by MLIR's JIT ----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Purpose: the second opinion on --convert-aicf-to-linalg (test/python/fuzz).
//
//   linalg-jit MODULE CALLS DATA
//
// MODULE is in the llvm dialect, its functions with C wrappers. DATA is a file
// of tensors, read before the calls and written after them. CALLS is text:
//   call NAME
//   OFFSET DIM...     a memref argument: bytes into DATA, its dense extents
// in the order of the arguments. Nothing here knows of AICF. Exit codes: 0; 1
// with a message for anything that is not so.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Support/TargetSelect.h"

#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

struct Call {
  std::string function;
  /// As MLIR lays a ranked memref out: two pointers, offset, sizes, strides.
  std::deque<std::vector<int64_t>> memrefs;
};

int fail(const std::string &message) {
  std::cerr << "linalg-jit: " << message << "\n";
  return 1;
}

std::vector<int64_t> describe(std::istringstream &line, char *data) {
  int64_t offset = 0, dim = 0;
  line >> offset;
  auto at = reinterpret_cast<int64_t>(data + offset);
  std::vector<int64_t> sizes, memref = {at, at, 0};
  while (line >> dim)
    sizes.push_back(dim);
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * sizes[i];
  memref.insert(memref.end(), sizes.begin(), sizes.end());
  memref.insert(memref.end(), strides.begin(), strides.end());
  return memref;
}

std::vector<Call> readCalls(std::istream &in, char *data) {
  std::vector<Call> calls;
  for (std::string text; std::getline(in, text);) {
    if (text.rfind("call ", 0) == 0) {
      calls.push_back({"_mlir_ciface_" + text.substr(5), {}});
      continue;
    }
    if (calls.empty())
      break;
    std::istringstream line(text);
    calls.back().memrefs.push_back(describe(line, data));
  }
  return calls;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4)
    return fail("expects MODULE CALLS DATA");
  for (char *path : {argv[1], argv[2], argv[3]})
    if (!std::filesystem::is_regular_file(path))
      return fail(std::string(path) + " is not a file");
  std::ifstream file(argv[3], std::ios::binary);
  std::vector<char> data{std::istreambuf_iterator<char>(file), {}};
  std::ifstream callsFile(argv[2]);
  if (!file || !callsFile)
    return fail("cannot read CALLS or DATA");
  std::vector<Call> calls = readCalls(callsFile, data.data());
  if (calls.empty())
    return fail("CALLS does not begin with a call");

  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  mlir::DialectRegistry registry;
  registry.insert<mlir::LLVM::LLVMDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return fail("cannot parse MODULE");
  mlir::ExecutionEngineOptions options;
  // Each function runs a few times on small tensors: compiling is the cost.
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::None;
  llvm::StringRef libraries[] = {AICF_FLOAT16_UTILS, AICF_C_RUNNER_UTILS};
  options.sharedLibPaths = libraries;
  auto engine = mlir::ExecutionEngine::create(*module, options);
  if (!engine)
    return fail(llvm::toString(engine.takeError()));
  for (Call &call : calls) {
    std::vector<void *> pointers, arguments;
    for (std::vector<int64_t> &memref : call.memrefs)
      pointers.push_back(memref.data());
    for (void *&pointer : pointers)
      arguments.push_back(&pointer);
    if (llvm::Error error = (*engine)->invokePacked(call.function, arguments))
      return fail(llvm::toString(std::move(error)));
  }
  std::ofstream out(argv[3], std::ios::binary);
  out.write(data.data(), std::streamsize(data.size()));
  return out.flush() ? 0 : fail("cannot write DATA");
}
