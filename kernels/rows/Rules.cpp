//===- Rules.cpp - what movers of rows accept -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

namespace aicf::rules {

Status gather_rows_c1(const GatherRowsView<Call> &c) {
  return hasLastDimension(c.data());
}
Status gather_rows_c2(const GatherRowsView<Call> &c) {
  return hasRank(c.index(), 1);
}
Status gather_rows_c3(const GatherRowsView<Call> &c) {
  TensorDesc rows = *c.data();
  rows.dims[0] = c.index()->dims[0];
  return hasType(c.rows(), rows);
}

Status shuffle_c1(const ShuffleView<Call> &c) { return isScalar(c.step()); }
Status shuffle_c2(const ShuffleView<Call> &c) { return hasRank(c.index(), 1); }

Status record_c1(const RecordView<Call> &c) {
  AICF_RETURN_IF_ERROR(hasLastDimension(c.history()));
  const TensorDesc &history = *c.history();
  return hasShape(c.value(), {history.dims + 1, size_t(history.rank) - 1});
}
Status record_c2(const RecordView<Call> &c) {
  return hasElement(c.value(), c.history()->dtype);
}
Status record_c3(const RecordView<Call> &c) { return isScalar(c.step()); }

} // namespace aicf::rules
