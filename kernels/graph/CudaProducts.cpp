//===- CudaProducts.cpp - the text of a product's kernel with a graph -----===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Takes a kernel of Products.cu and puts the graph in where its mark stands:
// what the product gives is rounded to its type there, as if it were stored,
// and the graph goes on with it.
//===----------------------------------------------------------------------===//

#include "kernels/graph/CudaElements.h"
#include "kernels/graph/CudaProgram.h"
#include "kernels/graph/ProductParams.h"
#include "lib/Ops/Fields.h"

#include <cstring>

namespace aicf::cuda {

/// The product of a body, as the kernels of small products see it.
static Product productOf(const Body &body, size_t position,
                         Span<const TensorView> values) {
  const Primitive &primitive = body.primitives[position];
  const auto attrs = decodeAttrs<GemmAttrs>(primitive.attrs);
  return Product(values[size_t(primitive.operands[0])],
                 values[size_t(primitive.operands[1])],
                 values[body.numOperands + position], attrs.transA != 0,
                 attrs.transB != 0);
}

StatusOr<GraphKernel> writeProductKernel(const Body &body,
                                         Span<const TensorView> values) {
  const size_t position = *positionOfProduct(body);
  const auto made = uint32_t(body.numOperands + position);
  const Product product = productOf(body, position, values);
  ElementWriter writer(body, values, graphExtents(body));
  const int tile = tileOf(product);
  const int64_t lanes = tile == 32 && product.n % 4 == 0 ? 4 : 1;
  writer.setLanes(lanes);
  const std::string name = "aicf_product_" +
                           std::string(nameOf(values[made].desc.dtype)) + "_" +
                           std::to_string(tile) + "_" + std::to_string(lanes);
  auto atMark =
      [&](const std::vector<std::string> &words) -> StatusOr<std::string> {
    const std::string index = writer.newRegister(true);
    writer.line("mov.b64 ", index, ", ", words.back());
    return writer.elementsBehind(made, {words.begin(), words.end() - 1}, index);
  };
  GraphKernel graph;
  AICF_ASSIGN_OR_RETURN(
      std::string text,
      fillSkeleton(name, writer, {{"aicf.product ", std::move(atMark)}}));
  graph.text = headOf(writer) + text;
  ProductParams params{};
  const std::vector<uint64_t> addresses = writer.addresses();
  std::copy(addresses.begin(), addresses.end(), params.addresses);
  params.tile = TileParams(product);
  const TileGrid grid(product, tile);
  PlannedLaunch launch;
  launch.block[0] = kTileThreads;
  launch.grid[0] = uint32_t(grid.x);
  launch.params.resize((sizeof(params) + 7) / 8);
  std::memcpy(launch.params.data(), &params, sizeof(params));
  graph.entries.push_back({name, std::move(launch)});
  return graph;
}

} // namespace aicf::cuda
