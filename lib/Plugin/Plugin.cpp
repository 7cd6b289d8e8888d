//===- Plugin.cpp - AICF inside a stock mlir-opt --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// mlir-opt --load-dialect-plugin=libAICFPlugin.so
// --load-pass-plugin=libAICFPlugin.so: the dialects, the passes and the
// pipelines, in any tool that takes MLIR's plugins and uses libMLIR.so.
//===----------------------------------------------------------------------===//

#include "aicf/Compiler.h"
#include "aicf/Version.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

static const char *versionOfPlugin() {
  static const std::string text = aicf::version();
  return text.c_str();
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "AICF", versionOfPlugin(),
          [](mlir::DialectRegistry *registry) {
            aicf::registerAllDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "AICF", versionOfPlugin(), [] {
            aicf::registerAllPasses();
            aicf::registerAllPipelines();
          }};
}
