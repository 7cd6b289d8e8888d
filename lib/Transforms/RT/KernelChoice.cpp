//===- KernelChoice.cpp - which kernel a call would get ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/KernelChoice.h"
#include "aicf/Dialect/AICF/AICF.h"
#include "lib/Dialect/Record.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

static Span<const TensorDesc> span(ArrayRef<TensorDesc> descs) {
  return {descs.data(), descs.size()};
}

FailureOr<KernelProfile> KernelProfile::load(Operation *op, StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return op->emitError() << "cannot read profile '" << path
                           << "': " << file.getError().message();
  auto json = llvm::json::parse((*file)->getBuffer());
  const llvm::json::Object *top = json ? json->getAsObject() : nullptr;
  const llvm::json::Object *kernels = top ? top->getObject("kernels") : nullptr;
  if (!json)
    llvm::consumeError(json.takeError());
  KernelProfile profile;
  for (const auto &[kid, problems] : kernels ? *kernels : llvm::json::Object())
    if (const auto *all = problems.getAsObject())
      for (const auto &[problem, micros] : *all)
        if (std::optional<double> number = micros.getAsNumber())
          profile.micros[kid.str()][problem.str()] = *number;
  if (!kernels || profile.micros.empty())
    return op->emitError() << "'" << path
                           << "' is not a profile: expected an object with "
                              "\"kernels\", as aicf-run --profile writes it";
  return profile;
}

std::optional<double> KernelProfile::find(StringRef kid,
                                          StringRef problem) const {
  auto it = micros.find(kid);
  if (it == micros.end())
    return std::nullopt;
  auto found = it->second.find(problem);
  return found == it->second.end() ? std::nullopt
                                   : std::optional<double>(found->second);
}

/// "64x32xf32,8x32xf32->64x8xf32": the key that traces use.
static std::string problemOf(ArrayRef<TensorDesc> ins,
                             ArrayRef<TensorDesc> outs) {
  auto join = [](ArrayRef<TensorDesc> descs) {
    SmallVector<std::string> present;
    for (const TensorDesc &desc : descs)
      if (!desc.isAbsent)
        present.push_back(desc.toString());
    return llvm::join(present, ",");
  };
  return join(ins) + "->" + join(outs);
}

KernelChooser::KernelChooser(func::FuncOp func, DeviceKind device,
                             const KernelProfile *profile)
    : device(device), profile(profile) {
  auto math = func->getAttrOfType<StringAttr>(step::kMathAttr);
  allowTF32 = math && math.getValue() == "tf32";
}

const KernelRow *KernelChooser::choose(OpKind kind, ArrayRef<Value> ins,
                                       TypeRange outs) const {
  SmallVector<TensorDesc> in = describeSlots(ins), out;
  for (Type type : outs)
    out.push_back(toTensorDesc(type));
  return choose(kind, in, out);
}

const KernelRow *KernelChooser::choose(OpKind kind, ArrayRef<TensorDesc> in,
                                       ArrayRef<TensorDesc> out) const {
  const KernelRow *best = nullptr;
  double least = 0;
  std::string problem = profile ? problemOf(in, out) : std::string();
  for (const KernelRow &row : kernelTable()) {
    bool isAutomatic = row.selection == Selection::Auto ||
                       (row.selection == Selection::AutoTF32 && allowTF32);
    if (!profile || !isAutomatic || row.device != device ||
        !row.accepts(kind, span(in), span(out)))
      continue;
    auto micros = profile->find(row.kid, problem);
    if (micros && (!best || *micros < least)) {
      best = &row;
      least = *micros;
    }
  }
  return best
             ? best
             : selectKernel(device, kind, span(in), span(out), {allowTF32, {}});
}

const KernelRow *KernelChooser::choose(PrimitiveOpInterface op) const {
  StringRef kid = op.getKidOrEmpty();
  SmallVector<TensorDesc> ins = op.getOperandDescs();
  SmallVector<TensorDesc> outs = op.getResultDescs();
  if (kid.empty())
    return choose(op.getOpKind(), ins, outs);
  const auto *row = findKernel(device, std::string_view(kid));
  return row && row->accepts(op.getOpKind(), span(ins), span(outs)) ? row
                                                                    : nullptr;
}
