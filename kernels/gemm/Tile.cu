//===- Tile.cu - matrix products of small shapes --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/gemm/Tile.cuh"

namespace aicf::cuda {
namespace {

template <typename T, typename Out, Epilogue kEpilogue, int kTile,
          bool kBatched>
__global__ void __launch_bounds__(Sizes<Compute<T>, kTile>::kThreads)
    gemmKernel(const __grid_constant__ TileParams p) {
  multiplyTile<T, Out, kEpilogue, kTile, kBatched>(p);
}

template <typename Args> constexpr Epilogue epilogueOf() {
  if (std::is_same_v<Args, GemmBiasArgs>)
    return Epilogue::Bias;
  if (std::is_same_v<Args, GemmReluBwdArgs>)
    return Epilogue::ReluBwd;
  return std::is_same_v<Args, GemmReduceArgs> ? Epilogue::Reduce
                                              : Epilogue::None;
}

template <typename T, typename Out, typename Args>
LaunchPlan gemm(Args call, const DeviceLimits &) {
  constexpr Epilogue kEpilogue = epilogueOf<Args>();
  constexpr bool kBatched = std::is_same_v<Args, BatchedGemmArgs>;
  const Product product(call);
  const TileParams p(product);
  auto launch = [&](auto kernel, int tile) -> LaunchPlan {
    const TileGrid grid(product, tile);
    PlannedLaunch l = plan(kernel, grid.x, kTileThreads, p);
    l.grid[1] = grid.y;
    l.grid[2] = grid.z;
    return {l};
  };
  if (tileOf(product) == 16)
    return launch(gemmKernel<T, Out, kEpilogue, 16, kBatched>, 16);
  return launch(gemmKernel<T, Out, kEpilogue, 32, kBatched>, 32);
}

} // namespace

#define AICF_KERNELS_OF_gemm_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
