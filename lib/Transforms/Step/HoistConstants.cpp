//===- HoistConstants.cpp - constants become arguments --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// An argument's name is made of its type and numbers, so that entries share
// equal ones as they share params. Passes behind this one know arguments only.
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/Tensors.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Step/EntryBuilder.h"

#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <cinttypes>

namespace aicf {
#define GEN_PASS_DEF_HOISTCONSTANTS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

/// "constant:2x3xf32:" and the hash of the bytes.
static std::string nameOf(DenseElementsAttr data) {
  std::vector<uint8_t> bytes = bytesOf(data);
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(bytes);
  std::string name =
      "constant:" +
      toDenseDesc(cast<RankedTensorType>(data.getType())).toString();
  llvm::raw_string_ostream(name)
      << ":"
      << llvm::format("%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
  return name;
}

namespace {
/// What the whole module holds.
struct Constants {
  llvm::StringSet<> names;
  uint64_t bytes = 0;
};

/// Hoists the constants of one entry.
class Hoister {
public:
  Hoister(func::FuncOp func, Constants &constants)
      : func(func), entry(func), constants(constants) {
    EntrySignature signature(func);
    for (auto [i, arg] : llvm::enumerate(signature.arguments))
      if (arg.data && arg.name == ::nameOf(arg.data)) // as this pass names it
        arguments[arg.name] = func.getArgument(i);
  }

  LogicalResult run() {
    IRMapping hoisted;
    for (Operation &op : llvm::make_early_inc_range(func.front())) {
      if (!isa<ConstantOp, IotaOp>(op))
        continue;
      if (op.use_empty()) {
        dead.push_back(&op);
        continue;
      }
      OpBuilder builder(&op);
      FailureOr<Value> value = hoist(&op, builder);
      if (failed(value))
        return failure();
      hoisted.map(op.getResult(0), *value);
      op.getResult(0).replaceAllUsesWith(*value);
      dead.push_back(&op);
    }
    entry.mapResults([&](Value v) { return hoisted.lookupOrDefault(v); });
    entry.finish();
    for (Operation *op : dead)
      op->erase();
    return success();
  }

private:
  /// The argument that holds `data`, which `op` asks for.
  FailureOr<Value> argumentOf(Operation *op, DenseElementsAttr data) {
    std::string name = ::nameOf(data);
    if (constants.names.insert(name).second)
      constants.bytes +=
          toDenseDesc(cast<RankedTensorType>(data.getType())).spanBytes();
    if (constants.bytes > kMaxConstantsBytes)
      return op->emitOpError()
             << "brings the constants to " << constants.bytes
             << " bytes, the limit of a plan is " << kMaxConstantsBytes;
    Value &argument = arguments[name];
    if (!argument)
      argument = entry.addConstant(data, name);
    return argument;
  }

  /// What `op` makes, of an argument that holds as few numbers as say it: one
  /// that repeats, or the row of an iota, turned along its dimension.
  FailureOr<Value> hoist(Operation *op, OpBuilder &builder) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    DenseElementsAttr data;
    SmallVector<int64_t> turned(type.getShape());
    if (auto iota = dyn_cast<IotaOp>(op)) {
      auto axis = int64_t(iota.getAxis());
      data = countUp(RankedTensorType::get({type.getDimSize(axis)},
                                           type.getElementType()));
      turned.assign(type.getRank() - axis, 1);
      turned.front() = type.getDimSize(axis);
    } else {
      data = cast<DenseElementsAttr>(cast<ConstantOp>(op).getValue());
      if (data.isSplat()) {
        data = data.resizeSplat(
            RankedTensorType::get({}, type.getElementType()));
        turned.clear();
      }
    }
    FailureOr<Value> held = argumentOf(op, data);
    if (failed(held))
      return failure();
    Value x = builder.createOrFold<ReshapeOp>(
        op->getLoc(), *held, builder.getDenseI64ArrayAttr(turned));
    return builder.createOrFold<BroadcastOp>(
        op->getLoc(), x, builder.getDenseI64ArrayAttr(type.getShape()));
  }

  func::FuncOp func;
  EntryBuilder entry;
  llvm::StringMap<Value> arguments; ///< by name
  Constants &constants;
  SmallVector<Operation *> dead;
};

struct HoistConstants : aicf::impl::HoistConstantsBase<HoistConstants> {
  void runOnOperation() override {
    Constants constants;
    for (func::FuncOp func : getEntries(getOperation()))
      if (failed(checkStepForm(func)) || failed(Hoister(func, constants).run()))
        return signalPassFailure();
  }
};
} // namespace
