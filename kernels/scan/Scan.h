//===- Scan.h - what is added, and along which elements --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_SCAN_SCAN_H
#define AICF_KERNELS_SCAN_SCAN_H

#include "aicf/TensorDesc.h"
#include "lib/Base/HostDevice.h"

namespace aicf {

/// The rows of a scan: n elements, `inner` apart; there are outer · inner.
struct ScanRows {
  int64_t outer = 1, n = 1, inner = 1;
  bool isReversed = false;

  ScanRows() = default;
  ScanRows(const TensorDesc &x, int64_t axis, bool isReversed)
      : n(x.dims[axis]), isReversed(isReversed) {
    for (int64_t d = 0; d < axis; ++d)
      outer *= x.dims[d];
    for (size_t d = size_t(axis) + 1; d < x.rank; ++d)
      inner *= x.dims[d];
  }

  /// Where the k-th that is added stands along the axis.
  AICF_HOST_DEVICE int64_t at(int64_t k) const {
    return isReversed ? n - 1 - k : k;
  }
};

} // namespace aicf

#endif // AICF_KERNELS_SCAN_SCAN_H
