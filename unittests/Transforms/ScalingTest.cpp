//===- ScalingTest.cpp - is anything quadratic? ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Counts the uses that passes walk over in programs that are long in one way.
// Times are measured by benchmarks/scaling.py.
//===----------------------------------------------------------------------===//

#include "aicf/Compiler.h"
#include "lib/Transforms/RT/CallUses.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <string>

using namespace mlir;
using namespace aicf;

namespace {

constexpr const char *kType = "tensor<4x4xf32>";

std::string argument(const std::string &name, const std::string &role) {
  return "%" + name + ": " + kType + " {aicf.role = \"" + role +
         "\", aicf.name = \"" + name + "\"}";
}
std::string op(const std::string &result, const std::string &what,
               int numOperands) {
  std::string text = "  %" + result + " = aicf." + what + " : " + kType;
  for (int i = 1; i < numOperands; ++i)
    text += std::string(", ") + kType;
  return text + "\n";
}
std::string trained(const std::string &arguments, const std::string &body,
                    const std::string &last) {
  return "func.func @f(" + arguments +
         ") -> (tensor<f32> {aicf.name = \"loss\", aicf.minimize}) attributes "
         "{aicf.optimizer = #aicf.adamw<lr = \"lr\">} {\n" +
         body + "  %loss = aicf.mean %" + last + " : " + kType +
         "\n  return %loss : tensor<f32>\n}";
}

/// Products of one value, added up.
std::string readersOfOneValue(int n) {
  std::string body = op("h", "gelu %x", 1) + op("s0", "gelu %h", 1);
  for (int i = 0; i < n; ++i) {
    std::string now = std::to_string(i), next = std::to_string(i + 1);
    body += op("a" + now, "matmul %h, %h", 2);
    body += op("s" + next, "add %s" + now + ", %a" + now, 2);
  }
  return "func.func @f(" + argument("x", "input") + ") -> (" + kType +
         " {aicf.name = \"y\"}) {\n" + body + "  return %s" +
         std::to_string(n) + " : " + kType + "\n}";
}

/// The same, and one concat: where there is a join, any value may be a part.
std::string readersAndAJoin(int n) {
  std::string text = readersOfOneValue(n);
  size_t results = text.find(") {\n"), body = results + 4;
  size_t at = text.rfind("  return");
  return text.substr(0, results) +
         ", tensor<4x8xf32> {aicf.name = \"both\"}) {\n" +
         text.substr(body, at - body) +
         "  %neg = aicf.neg %x : tensor<4x4xf32>\n"
         "  %both = aicf.concat %neg, %x {axis = 1 : i64} : tensor<4x4xf32>, "
         "tensor<4x4xf32>\n"
         "  return %s" +
         std::to_string(n) + ", %both : tensor<4x4xf32>, tensor<4x8xf32>\n}";
}

std::string manyParameters(int n) {
  std::string arguments = argument("x", "input"), body = op("a0", "gelu %x", 1);
  for (int i = 0; i < n; ++i) {
    std::string now = std::to_string(i);
    arguments += ", " + argument("p" + now, "param");
    body += op("a" + std::to_string(i + 1), "add %a" + now + ", %p" + now, 2);
  }
  return trained(arguments, body, "a" + std::to_string(n));
}

std::string manyLayers(int n) {
  std::string arguments = argument("x", "input"), body = op("a0", "gelu %x", 1);
  for (int i = 0; i < n; ++i) {
    std::string now = std::to_string(i);
    arguments += ", " + argument("p" + now, "param");
    body += op("m" + now, "matmul %a" + now + ", %p" + now, 2);
    body += op("a" + std::to_string(i + 1), "relu %m" + now, 1);
  }
  return trained(arguments, body, "a" + std::to_string(n));
}

/// Layers of one weight: its gradients are added up on the way to the update.
std::string sharedWeight(int n) {
  std::string body = op("a0", "gelu %x", 1);
  for (int i = 0; i < n; ++i) {
    std::string now = std::to_string(i);
    body += op("m" + now, "matmul %a" + now + ", %p", 2);
    body += op("a" + std::to_string(i + 1), "relu %m" + now, 1);
  }
  return trained(argument("x", "input") + ", " + argument("p", "param"), body,
                 "a" + std::to_string(n));
}

struct Program {
  const char *name;
  std::string (*make)(int n);
  int streams = 1;
};

/// Uses that the passes walk over for a program.
uint64_t walkedFor(const Program &program, int n, DeviceKind target) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(program.make(n), &context);
  EXPECT_TRUE(module);
  PassManager passes(&context);
  LowerToBackendOptions options;
  options.target = target;
  options.numStreams = program.streams;
  buildLowerToBackendPipeline(passes, options);
  const uint64_t before = rt::numUsesWalked();
  EXPECT_TRUE(module && succeeded(passes.run(*module)));
  return rt::numUsesWalked() - before;
}

class Scaling : public testing::TestWithParam<Program> {};

TEST_P(Scaling, UsesWalkedOverGrowAsProgramsDo) {
  for (DeviceKind target : {DeviceKind::CPU, DeviceKind::CUDA}) {
    uint64_t few = walkedFor(GetParam(), 1600, target),
             many = walkedFor(GetParam(), 3200, target);
    EXPECT_GT(few, 1600u) << "nothing was counted";
    EXPECT_LT(double(many), 2.2 * double(few)) << few << " -> " << many;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Scaling,
                         testing::Values(Program{"readers", &readersOfOneValue},
                                         Program{"join", &readersAndAJoin},
                                         Program{"parameters", &manyParameters},
                                         Program{"layers", &manyLayers},
                                         Program{"weight", &sharedWeight, 3}),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace
