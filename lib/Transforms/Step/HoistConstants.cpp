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
      if (arg.data)
        arguments[arg.name] = func.getArgument(i);
  }

  LogicalResult run() {
    IRMapping hoisted;
    for (Operation &op : llvm::make_early_inc_range(func.front())) {
      auto constant = dyn_cast<ConstantOp>(op);
      auto iota = dyn_cast<IotaOp>(op);
      if (!constant && !iota)
        continue;
      OpBuilder builder(&op);
      FailureOr<Value> value =
          constant ? hoist(constant, builder) : hoist(iota, builder);
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
             << "is one constant too many: they have " << constants.bytes
             << " bytes, the limit of a plan is " << kMaxConstantsBytes;
    Value &argument = arguments[name];
    if (!argument)
      argument = entry.addConstant(data, name);
    return argument;
  }

  FailureOr<Value> hoist(ConstantOp op, OpBuilder &builder) {
    auto data = cast<DenseElementsAttr>(op.getValue());
    auto type = cast<RankedTensorType>(data.getType());
    if (!data.isSplat() || type.getRank() == 0)
      return argumentOf(op, data);
    FailureOr<Value> one = argumentOf(
        op, data.resizeSplat(RankedTensorType::get({}, type.getElementType())));
    if (failed(one))
      return failure();
    return broadcast(builder, op.getLoc(), *one, type.getShape());
  }

  /// One row of numbers, turned along `axis`.
  FailureOr<Value> hoist(IotaOp op, OpBuilder &builder) {
    auto type = cast<RankedTensorType>(op.getY().getType());
    int64_t axis = op.getAxis();
    FailureOr<Value> row =
        argumentOf(op, countUp(RankedTensorType::get({type.getDimSize(axis)},
                                                     type.getElementType())));
    if (failed(row))
      return failure();
    SmallVector<int64_t> turned(type.getRank() - axis, 1);
    turned.front() = type.getDimSize(axis);
    Value x = builder.createOrFold<ReshapeOp>(
        op.getLoc(), *row, builder.getDenseI64ArrayAttr(turned));
    return broadcast(builder, op.getLoc(), x, type.getShape());
  }

  static Value broadcast(OpBuilder &builder, Location loc, Value x,
                         ArrayRef<int64_t> shape) {
    return builder.createOrFold<BroadcastOp>(
        loc, x, builder.getDenseI64ArrayAttr(shape));
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
      if (failed(checkOneBlock(func)) ||
          failed(Hoister(func, constants).run()))
        return signalPassFailure();
  }
};
} // namespace
