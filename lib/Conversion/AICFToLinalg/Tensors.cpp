//===- Tensors.cpp - loops over tensors as linalg ops ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Conversion/AICFToLinalg/Tensors.h"

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace aicf::linalg_bridge;

Type TensorBuilder::computeType(TypeRange types) {
  Type widest = builder.getF32Type();
  for (Type type : types)
    if (getElementTypeOrSelf(type).isF64())
      widest = builder.getF64Type();
  return widest;
}

Scalars TensorBuilder::widened(ValueRange arguments, Type compute) {
  Scalars all;
  for (Value argument : arguments) {
    Scalar scalar(builder, loc, argument);
    all.push_back(scalar.isFloat() ? scalar.to(compute) : scalar);
  }
  return all;
}

linalg::GenericOp
TensorBuilder::generic(ArrayRef<Read> operands, ValueRange inits,
                       ArrayRef<int64_t> initLoops, int64_t numLoops,
                       function_ref<void(Location, ValueRange)> body) {
  auto mapOf = [&](ArrayRef<int64_t> loops) {
    SmallVector<AffineExpr> dims;
    for (int64_t loop : loops)
      dims.push_back(builder.getAffineDimExpr(loop));
    return AffineMap::get(numLoops, 0, dims, builder.getContext());
  };
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const Read &read : operands) {
    inputs.push_back(read.tensor);
    maps.push_back(mapOf(read.loops));
  }
  maps.append(inits.size(), mapOf(initLoops));
  SmallVector<utils::IteratorType> iterators(numLoops,
                                             utils::IteratorType::reduction);
  for (int64_t loop : initLoops)
    iterators[loop] = utils::IteratorType::parallel;
  return linalg::GenericOp::create(
      builder, loc, inits.getTypes(), inputs, inits, maps, iterators,
      [&](OpBuilder &nested, Location at, ValueRange arguments) {
        OpBuilder::InsertionGuard guard(builder);
        builder.restoreInsertionPoint(nested.saveInsertionPoint());
        body(at, arguments);
      });
}

SmallVector<Value> TensorBuilder::map(ArrayRef<Read> operands,
                                      ArrayRef<RankedTensorType> results,
                                      Body body) {
  SmallVector<Type> types(results);
  SmallVector<Value> inits;
  for (const Read &read : operands)
    types.push_back(read.tensor.getType());
  for (RankedTensorType result : results)
    inits.push_back(empty(result));
  Type compute = computeType(types);
  int64_t rank = results[0].getRank();
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  auto op = generic(
      operands, inits, all, rank, [&](Location at, ValueRange arguments) {
        Scalars out =
            body(widened(arguments.take_front(operands.size()), compute));
        SmallVector<Value> yielded;
        for (auto [value, type] : llvm::zip_equal(out, results))
          yielded.push_back(value.to(type.getElementType()).get());
        linalg::YieldOp::create(builder, at, yielded);
      });
  return llvm::to_vector_of<Value>(op.getResults());
}

Tensor TensorBuilder::map(ArrayRef<Read> operands, RankedTensorType result,
                          function_ref<Scalar(ArrayRef<Scalar>)> body) {
  return cast<Tensor>(map(operands, ArrayRef(result), [&](ArrayRef<Scalar> in) {
    return Scalars{body(in)};
  })[0]);
}

Tensor TensorBuilder::reduce(ArrayRef<Read> operands, ArrayRef<int64_t> extents,
                             ArrayRef<int64_t> kept, double init, Combine body,
                             bool inDouble) {
  SmallVector<Type> types;
  for (const Read &read : operands)
    types.push_back(read.tensor.getType());
  SmallVector<int64_t> shape;
  for (int64_t loop : kept)
    shape.push_back(extents[loop]);
  Type compute = inDouble ? builder.getF64Type() : computeType(types);
  return reduce(operands, extents, kept,
                filled(RankedTensorType::get(shape, compute), init), body);
}

Tensor TensorBuilder::reduce(ArrayRef<Read> operands, ArrayRef<int64_t> extents,
                             ArrayRef<int64_t> kept, Tensor init,
                             Combine body) {
  Type type = init.getType().getElementType();
  SmallVector<Type> types;
  for (const Read &read : operands)
    types.push_back(read.tensor.getType());
  Type compute = isa<FloatType>(type) ? type : computeType(types);
  auto op = generic(operands, ValueRange(init), kept, extents.size(),
                    [&](Location at, ValueRange arguments) {
                      Scalar sum(builder, at, arguments.back());
                      Scalar next =
                          body(sum, widened(arguments.drop_back(), compute));
                      linalg::YieldOp::create(builder, at, next.get());
                    });
  return cast<Tensor>(op.getResult(0));
}

Read TensorBuilder::all(Value tensor) {
  return {cast<Tensor>(tensor),
          llvm::to_vector(llvm::seq<int64_t>(0, typeOf(tensor).getRank()))};
}
Read TensorBuilder::rows(Value tensor, int64_t rank) {
  return {cast<Tensor>(tensor),
          llvm::to_vector(llvm::seq<int64_t>(0, rank - 1))};
}
Read TensorBuilder::columns(Value tensor, int64_t rank) {
  return {cast<Tensor>(tensor), {rank - 1}};
}

Scalar TensorBuilder::index(int64_t dim, Type type) {
  Value index = linalg::IndexOp::create(builder, loc, dim);
  return {builder, loc, arith::IndexCastOp::create(builder, loc, type, index)};
}
Scalar TensorBuilder::read(Tensor tensor, ValueRange at) {
  return {builder, loc, tensor::ExtractOp::create(builder, loc, tensor, at)};
}
Scalar TensorBuilder::constant(Type type, double number) {
  TypedAttr attr = isa<FloatType>(type)
                       ? TypedAttr(builder.getFloatAttr(type, number))
                       : builder.getIntegerAttr(type, int64_t(number));
  return {builder, loc, arith::ConstantOp::create(builder, loc, attr)};
}

Tensor TensorBuilder::empty(RankedTensorType type) {
  return cast<Tensor>(tensor::EmptyOp::create(builder, loc, type.getShape(),
                                              type.getElementType())
                          .getResult());
}
Tensor TensorBuilder::filled(RankedTensorType type, double number) {
  Value value = constant(type.getElementType(), number).get();
  return cast<Tensor>(
      linalg::FillOp::create(builder, loc, value, Value(empty(type)))
          .getResult(0));
}
Tensor TensorBuilder::convert(Tensor tensor, Type element) {
  if (tensor.getType().getElementType() == element)
    return tensor;
  return map({all(tensor)}, ofElement(tensor.getType(), element),
             [](ArrayRef<Scalar> in) { return in[0]; });
}

Tensor TensorBuilder::reshape(Tensor tensor, ArrayRef<int64_t> shape) {
  RankedTensorType from = tensor.getType(), to = from.clone(shape);
  if (from == to)
    return tensor;
  auto groups = getReassociationIndicesForReshape(from, to);
  assert(groups && "shapes of one another's groups of dimensions");
  if (to.getRank() < from.getRank())
    return cast<Tensor>(
        tensor::CollapseShapeOp::create(builder, loc, to, tensor, *groups)
            .getResult());
  return cast<Tensor>(
      tensor::ExpandShapeOp::create(builder, loc, to, tensor, *groups)
          .getResult());
}

Tensor TensorBuilder::product(Tensor a, Tensor b, bool transA, bool transB,
                              Tensor init) {
  auto build = [&](auto *kind) {
    using Op = std::remove_pointer_t<decltype(kind)>;
    auto op = Op::create(builder, loc, TypeRange(init.getType()),
                         ValueRange{a, b}, ValueRange(init));
    return cast<Tensor>(op->getResult(0));
  };
  if (transA)
    return build(static_cast<linalg::MatmulTransposeAOp *>(nullptr));
  if (transB)
    return build(static_cast<linalg::MatmulTransposeBOp *>(nullptr));
  return build(static_cast<linalg::MatmulOp *>(nullptr));
}
