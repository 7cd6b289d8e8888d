//===- ExpandMaps.cpp - bodies of maps as ops of the dialect ---------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Scalar/ScalarBody.h"

namespace aicf {
#define GEN_PASS_DEF_EXPANDMAPS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

namespace {
/// The body of one map, whose arguments are its operands' elements.
class MapBody : public scalars::ScalarBody {
public:
  MapBody(OpBuilder &builder, MapOp map)
      : ScalarBody(builder, map.getBody().front(),
                   cast<ShapedType>(map.getY().getType()).getShape(),
                   /*usesGradients=*/false),
        map(map) {}

private:
  Value operand(BlockArgument argument) override {
    return map.getOperands()[argument.getArgNumber()];
  }

  MapOp map;
};

struct ExpandMaps : aicf::impl::ExpandMapsBase<ExpandMaps> {
  void runOnOperation() override {
    SmallVector<MapOp> maps;
    getOperation().walk([&](MapOp map) { maps.push_back(map); });
    for (MapOp map : maps)
      if (failed(expand(map)))
        return signalPassFailure();
  }

private:
  static LogicalResult expand(MapOp map);
};
} // namespace

LogicalResult ExpandMaps::expand(MapOp map) {
  OpBuilder builder(map);
  Operation *before = map->getPrevNode();
  MapBody body(builder, map);
  auto yield = cast<YieldOp>(map.getBody().front().getTerminator());
  Value y = body.translate(yield.getValue());
  if (!y) // a map is isolated, so one of its ops is the reason
    return body.culprit->emitOpError()
           << "cannot be expressed in aicf: " << body.reason;
  // What is said of the map, as aicf.recompute, is said of its ops.
  for (Operation *op = before ? before->getNextNode() : &map->getBlock()->front();
       op != map; op = op->getNextNode())
    op->setDiscardableAttrs(map->getDiscardableAttrDictionary());
  map.getY().replaceAllUsesWith(y);
  map.erase();
  return success();
}
