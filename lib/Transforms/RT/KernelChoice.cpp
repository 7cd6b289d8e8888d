//===- KernelChoice.cpp - which kernel a call would get ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/KernelChoice.h"
#include "aicf/Dialect/AICF/AICF.h"
#include "lib/Ops/Patterns.h"
#include "lib/Transforms/RT/CallUses.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <limits>

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

FailureOr<Profile> aicf::rt::loadProfile(Location loc, StringRef path) {
  // A device such as /dev/zero would never end.
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path))
    return emitError(loc) << "cannot read profile '" << path
                          << "': it is not a regular file";
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return emitError(loc) << "cannot read profile '" << path
                          << "': " << file.getError().message();
  StatusOr<Profile> profile =
      Profile::parse(std::string_view((*file)->getBuffer()));
  if (!profile.ok())
    return emitError(loc) << "'" << path << "' is "
                          << profile.status().message();
  if (profile->micros.empty())
    return emitError(loc) << "profile '" << path << "' has no kernels";
  return std::move(*profile);
}

StatusOr<TypedBody> aicf::rt::typedBodyOf(BodyAttr body, TypeRange ins,
                                          TypeRange outs) {
  auto describe = [](TypeRange types) {
    std::vector<TensorDesc> descs;
    for (Type type : types)
      descs.push_back(toTensorDesc(type));
    return descs;
  };
  // The context owns it.
  std::shared_ptr<const Body> shared(std::shared_ptr<const Body>(),
                                     &body.getBody());
  return TypedBody::create(std::move(shared), body.getFacts(), describe(ins),
                           describe(outs));
}

StatusOr<TypedBody> aicf::rt::typedBodyOf(CallOp op) {
  return typedBodyOf(op.getBody(), op.getArgs().getTypes(),
                     op.getResultTypesOfBody());
}

StatusOr<TypedBody> aicf::rt::typedBodyOf(const MergedCall &call) {
  return typedBodyOf(call.body, ValueRange(call.operands).getTypes(),
                     ValueRange(call.results).getTypes());
}

KernelChooser::KernelChooser(func::FuncOp func, StorageOffsets offsets,
                             const Profile *profile)
    : target(step::targetOf(func)), offsets(std::move(offsets)),
      profile(profile) {}

SmallVector<uintptr_t> KernelChooser::offsetsOf(ValueRange operands,
                                                ValueRange results) const {
  SmallVector<uintptr_t> all;
  for (ValueRange values : {operands, results})
    for (Value value : values)
      all.push_back(uintptr_t(offsets.of(value)));
  return all;
}

const KernelRow *KernelChooser::choose(const TypedBody &call,
                                       ArrayRef<uintptr_t> places) const {
  Span<const uintptr_t> addresses{places.data(), places.size()};
  const KernelRow *first = nullptr, *fastest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const KernelRow &row : kernelsFor(call.pattern())) {
    if (!isAutomatic(row) || !row.accepts(call) || !row.suits(call, addresses))
      continue;
    if (!first && row.isWorthChoosing(call, target.costs))
      first = &row;
    if (!profile) {
      if (first)
        break;
      continue;
    }
    std::optional<double> micros = profile->find(row.kid, problemOf(call));
    if (micros && *micros < least) {
      fastest = &row;
      least = *micros;
    }
  }
  return fastest ? fastest : first;
}

const KernelRow *KernelChooser::choose(const MergedCall &call,
                                       const TypedBody &typed) const {
  return choose(typed, offsetsOf(call.operands, call.results));
}

const KernelRow *KernelChooser::choose(CallOp op,
                                       const TypedBody &typed) const {
  return choose(op, typed, offsetsOf(op.getArgs(), op->getResults()));
}

const KernelRow *KernelChooser::choose(CallOp op, const TypedBody &typed,
                                       ArrayRef<uintptr_t> places) const {
  StringRef kid = op.getKid();
  if (kid.empty())
    return choose(typed, places);
  const auto *row = findKernel(target.device(), std::string_view(kid));
  return row && row->accepts(typed) &&
                 row->suits(typed, {places.data(), places.size()})
             ? row
             : nullptr;
}

/// Why `row` is passed over for a call of its pattern and types, or "".
static std::string whyPassedOver(const KernelRow &row, const TypedBody &call,
                                 const Costs &costs, bool isAutomatic) {
  switch (row.mismatch(call)) {
  case Mismatch::Body:
  case Mismatch::Types:
    return {}; // another kernel altogether
  case Mismatch::Strides:
    return "it does not take a view there";
  case Mismatch::Layout:
    return "some tensors are padded";
  case Mismatch::Width:
    return ("operand 0's last dimension is not a multiple of " +
            Twine(row.width))
        .str();
  case Mismatch::Condition:
    return "not (" + std::string(row.takes.text) + ")";
  case Mismatch::None:
    break;
  }
  if (!row.isWorthChoosing(call, costs))
    return "it does not pay: not (" + std::string(row.pays.text) + ")";
  if (isAutomatic)
    return "a view is not aligned for it";
  return row.selection == Selection::AutoTF32
             ? "the target's math is not \"tf32\""
             : "it runs only where a call names it";
}

Decision KernelChooser::noKernelFor(TypedBody typed) const {
  return Decision::no([this, typed = std::move(typed)] {
    return "the target has no kernel for them in one call" + passedOver(typed);
  });
}

std::string KernelChooser::passedOver(const TypedBody &typed,
                                      const KernelRow *end) const {
  std::string text;
  for (const KernelRow &row : kernelsFor(typed.pattern())) {
    if (&row == end)
      break;
    std::string why = whyPassedOver(row, typed, target.costs, isAutomatic(row));
    if (!why.empty())
      text += "; " + std::string(row.kid) + ": " + why;
  }
  return text;
}

std::string KernelChooser::reasonFor(const KernelRow &row, CallOp op,
                                     const TypedBody &typed) const {
  if (!op.getKid().empty())
    return "the call names it";
  if (profile)
    if (auto micros = profile->find(row.kid, problemOf(typed)))
      return llvm::formatv("the fastest in the profile, {0:F2} us", *micros);
  return "the first automatic kernel that takes the call and pays" +
         passedOver(typed, &row);
}
