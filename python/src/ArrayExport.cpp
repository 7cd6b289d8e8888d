//===- ArrayExport.cpp - aicf.Array as NumPy's, DLPack's and numbers ----===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Base/Element.h"
#include "python/src/Arrays.h"

#include <cstring>

namespace aicf::python {

namespace {

nb::dlpack::dtype dlpackOf(DType dtype) {
  using Code = nb::dlpack::dtype_code;
  Code code = dtype == DType::BF16 ? Code::Bfloat
              : dtype == DType::I1 ? Code::Bool
              : isFloat(dtype)     ? Code::Float
                                   : Code::Int;
  return {uint8_t(code), uint8_t(sizeOf(dtype) * 8), 1};
}

/// The values on the host; on the CPU those of the array itself.
std::shared_ptr<void> hostCopy(const Array &array) {
  ArrayData &data = *array.data;
  if (data.device->isCPU()) // an output owns its values at once
    return array.values();
  nb::gil_scoped_release release;
  check(data.synchronize());
  std::shared_ptr<uint8_t[]> host(new uint8_t[data.desc.spanBytes()]);
  std::lock_guard<std::mutex> lock(data.device->mutex);
  check(data.device->device->copyToHost(*data.device->stream, host.get(),
                                        data.memory.get(),
                                        data.desc.spanBytes()));
  return {host, host.get()};
}

nb::capsule ownerOf(std::shared_ptr<void> memory) {
  return nb::capsule(
      new std::shared_ptr<void>(std::move(memory)),
      [](void *p) noexcept { delete static_cast<std::shared_ptr<void> *>(p); });
}

template <typename... Framework>
nb::object exportArray(const TensorDesc &desc, std::shared_ptr<void> memory,
                       DType as, int deviceType, int ordinal) {
  size_t shape[kMaxRank];
  for (size_t i = 0; i < desc.rank; ++i)
    shape[i] = size_t(desc.dims[i]);
  void *data = memory.get();
  nb::ndarray<Framework...> view(data, desc.rank, shape,
                                 ownerOf(std::move(memory)), nullptr,
                                 dlpackOf(as), deviceType, ordinal);
  return nb::cast(view, nb::rv_policy::reference);
}

/// The consumer's stream, which DLPack has as a number above 0; none where it
/// says nothing.
std::optional<intptr_t> streamOf(const nb::kwargs &kwargs) {
  intptr_t number = 0;
  if (!kwargs.contains("stream") ||
      !nb::try_cast(nb::object(kwargs["stream"]), number) || number == 0)
    return std::nullopt;
  return number;
}

} // namespace

nb::object item(Array &array) {
  ArrayData &data = *array.data;
  if (data.desc.elements() != 1)
    fail(StatusCode::ShapeMismatch,
         "only an array of one element is a number, "
         "this one is ",
         data.desc.toString());
  std::shared_ptr<void> host = hostCopy(array);
  auto *bytes = static_cast<const uint8_t *>(host.get());
  if (isFloat(data.desc.dtype))
    return nb::float_(loadElement(data.desc.dtype, bytes));
  if (data.desc.dtype == DType::I32) {
    int32_t value;
    std::memcpy(&value, bytes, 4);
    return nb::int_(value);
  }
  int64_t value;
  std::memcpy(&value, bytes, 8);
  return nb::int_(value);
}

nb::object dlpack(Array &array, nb::kwargs kwargs) {
  ArrayData &data = *array.data;
  std::optional<intptr_t> stream = streamOf(kwargs);
  {
    nb::gil_scoped_release release;
    if (stream && *stream > 0 && !data.device->isCPU())
      check(data.orderBefore(reinterpret_cast<void *>(*stream)));
    else
      check(data.synchronize());
  }
  if (data.isShared)
    data.isShared->store(true);
  int type =
      data.device->isCPU() ? nb::device::cpu::value : nb::device::cuda::value;
  nb::object view = exportArray<nb::array_api>(
      data.desc, array.values(), data.desc.dtype, type, data.device->ordinal);
  return view.attr("__dlpack__")(**kwargs);
}

nb::object toNumPy(Array &array) {
  ArrayData &data = *array.data;
  bool isBF16 = data.desc.dtype == DType::BF16;
  nb::object type;
  if (isBF16) {
    try {
      type = nb::module_::import_("ml_dtypes").attr("bfloat16");
    } catch (nb::python_error &) {
      fail(StatusCode::DTypeMismatch,
           "NumPy has no bf16: install ml_dtypes, or take the array by DLPack "
           "(torch.from_dlpack)");
    }
  }
  std::shared_ptr<void> host = hostCopy(array);
  if (!isBF16)
    return exportArray<nb::numpy>(data.desc, std::move(host), data.desc.dtype,
                                  nb::device::cpu::value, 0);
  return exportArray<nb::numpy>(data.desc, std::move(host), DType::F16,
                                nb::device::cpu::value, 0)
      .attr("view")(type);
}

nb::object wideNumPy(Array &array) {
  const TensorDesc &desc = array.data->desc;
  if (desc.dtype != DType::BF16)
    return toNumPy(array);
  std::shared_ptr<void> host = hostCopy(array);
  size_t count = size_t(desc.elements());
  std::shared_ptr<float[]> wide(new float[count]);
  for (size_t i = 0; i < count; ++i)
    wide[i] = float(loadElement(
        DType::BF16, static_cast<const uint8_t *>(host.get()) + 2 * i));
  return exportArray<nb::numpy>(desc, std::shared_ptr<void>(wide, wide.get()),
                                DType::F32, nb::device::cpu::value, 0);
}

} // namespace aicf::python
