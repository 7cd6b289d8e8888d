//===- ArrayClass.cpp - aicf.Array for Python ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/src/Arrays.h"
#include "lib/Base/Element.h"

#include <cstring>

namespace aicf::python {

static nb::dlpack::dtype dlpackOf(DType dtype) {
  using Code = nb::dlpack::dtype_code;
  Code code = dtype == DType::BF16 ? Code::Bfloat
              : dtype == DType::I1 ? Code::Bool
              : isFloat(dtype)     ? Code::Float
                                   : Code::Int;
  return {uint8_t(code), uint8_t(sizeOf(dtype) * 8), 1};
}

DType parseDType(const std::string &name) {
  if (auto dtype = parseEnum<DType>(name, kNumDTypes))
    return *dtype;
  fail(StatusCode::InvalidArgument, "\"", name,
       "\" is not an element type, expected f16, bf16, f32, f64, i32, i64 or "
       "i1");
}

nb::tuple shapeTuple(const TensorDesc &desc) {
  nb::object shape = nb::steal(PyTuple_New(desc.rank));
  for (size_t i = 0; i < desc.rank; ++i)
    PyTuple_SET_ITEM(shape.ptr(), Py_ssize_t(i),
                     PyLong_FromLongLong(desc.dims[i]));
  return nb::borrow<nb::tuple>(shape);
}

namespace {

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

/// The consumer's stream, which DLPack has as a number above 0; none where it
/// says nothing.
std::optional<intptr_t> streamOf(const nb::kwargs &kwargs) {
  intptr_t number = 0;
  if (!kwargs.contains("stream") ||
      !nb::try_cast(nb::object(kwargs["stream"]), number) || number == 0)
    return std::nullopt;
  return number;
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

/// What an operator copies from a GPU without being asked to.
constexpr uint64_t kSmallBytes = 64 << 10;

bool isSmall(const Array &array) {
  return array.data->device->isCPU() ||
         array.data->desc.spanBytes() <= kSmallBytes;
}

/// The values as NumPy's, of bf16 as f32: for people, and for arithmetic on the
/// host.
nb::object hostValues(Array &array) {
  const TensorDesc &desc = array.data->desc;
  if (!isSmall(array))
    throw nb::type_error(
        ("an array of " + std::to_string(desc.elements()) +
         " elements on a GPU is not copied silently: take numpy() once")
            .c_str());
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

/// What stands for an array in an expression: a number for a 0-d one.
nb::object operand(nb::handle object) {
  Array *array = nullptr;
  (void)nb::try_cast(object, array);
  if (!array)
    return nb::borrow(object);
  return array->data->desc.rank == 0 ? item(*array) : hostValues(*array);
}

std::string repr(Array &array) {
  const TensorDesc &desc = array.data->desc;
  std::string text = "aicf.Array(";
  if (desc.rank == 0)
    text += nb::cast<std::string>(nb::str(nb::repr(item(array)))) + ", ";
  else if (isSmall(array))
    text += nb::cast<std::string>(nb::module_::import_("numpy").attr(
                "array2string")(hostValues(array), nb::arg("separator") = ", ",
                                nb::arg("prefix") = text)) +
            ", ";
  return text + desc.toString() + ", " + array.data->device->name() + ")";
}

/// `op` is Python's Py_EQ, ... Arrays of one element are compared as numbers,
/// others element by element.
template <int op> nb::object compare(nb::handle self, nb::handle other) {
  auto valueOf = [](nb::handle object) {
    Array *own = nullptr;
    (void)nb::try_cast(object, own);
    bool isOne = own && own->data->desc.elements() == 1;
    return isOne ? item(*own) : operand(object);
  };
  return nb::steal( // nothing where Python has raised
      PyObject_RichCompare(valueOf(self).ptr(), valueOf(other).ptr(), op));
}

/// One of Python's arithmetic functions, of numbers or NumPy's arrays.
using NumberFunction = PyObject *(*)(PyObject *, PyObject *);

template <NumberFunction function>
nb::object compute(nb::handle left, nb::handle right) {
  return nb::steal(function(operand(left).ptr(), operand(right).ptr()));
}

PyObject *power(PyObject *base, PyObject *exponent) {
  return PyNumber_Power(base, exponent, Py_None);
}

template <PyObject *(*function)(PyObject *)>
nb::object computeOne(nb::handle self) {
  return nb::steal(function(operand(self).ptr()));
}

/// What to use instead of a name of PyTorch's or NumPy's that is not there.
nb::object refuseName(nb::handle self, const std::string &name) {
  if (name.compare(0, 2, "__") == 0) // asked for by protocols all the time
    throw nb::attribute_error(name.c_str());
  nb::object error = nb::module_::import_("aicf._base.hints")
                         .attr("missing")("aicf.Array", name, self.type());
  PyErr_SetObject(PyExc_AttributeError, error.ptr());
  throw nb::python_error();
}

/// Arithmetic takes place on the host: these are results that people look at.
void defineArithmetic(nb::class_<Array> &type) {
#define AICF_OPERATOR(NAME, FUNCTION)                                          \
  type.def(                                                                    \
          "__" NAME "__",                                                      \
          [](nb::handle self, nb::handle other) {                              \
            return compute<FUNCTION>(self, other);                             \
          },                                                                   \
          nb::arg("other").none(),                                             \
          nb::sig("def __" NAME                                                \
                  "__(self, other: typing.Any, /) -> typing.Any"))             \
      .def(                                                                    \
          "__r" NAME "__",                                                     \
          [](nb::handle self, nb::handle other) {                              \
            return compute<FUNCTION>(other, self);                             \
          },                                                                   \
          nb::arg("other").none(),                                             \
          nb::sig("def __r" NAME                                               \
                  "__(self, other: typing.Any, /) -> typing.Any"))
  AICF_OPERATOR("add", PyNumber_Add);
  AICF_OPERATOR("sub", PyNumber_Subtract);
  AICF_OPERATOR("mul", PyNumber_Multiply);
  AICF_OPERATOR("truediv", PyNumber_TrueDivide);
  AICF_OPERATOR("floordiv", PyNumber_FloorDivide);
  AICF_OPERATOR("mod", PyNumber_Remainder);
  AICF_OPERATOR("pow", power);
#undef AICF_OPERATOR
  type.def("__neg__", &computeOne<PyNumber_Negative>,
           nb::sig("def __neg__(self) -> typing.Any"))
      .def("__pos__", &computeOne<PyNumber_Positive>,
           nb::sig("def __pos__(self) -> typing.Any"))
      .def("__abs__", &computeOne<PyNumber_Absolute>,
           nb::sig("def __abs__(self) -> typing.Any"))
      .def(
          "__round__",
          [](nb::handle self, nb::object digits) {
            return nb::module_::import_("builtins")
                .attr("round")(operand(self), digits);
          },
          nb::arg("digits") = nb::none(),
          nb::sig("def __round__(self, digits: int | None = None) -> "
                  "typing.Any"))
      .def(
          "__getitem__",
          [](Array &a, nb::handle index) {
            return nb::object(nb::object(hostValues(a)[index]).attr("copy")());
          },
          nb::arg("index").none(),
          nb::sig("def __getitem__(self, index: typing.Any, /) -> typing.Any"),
          "A NumPy array of the elements, or one of them; not a view.")
      .def(
          "__iter__",
          [](Array &a) {
            if (a.data->desc.rank == 0)
              throw nb::type_error("a 0-d array is not iterated over: it is a "
                                   "number, float(x)");
            return nb::iter(nb::object(hostValues(a).attr("copy")()));
          },
          nb::sig("def __iter__(self) -> typing.Iterator[typing.Any]"));
}

} // namespace

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

void defineArrays(nb::module_ &m) {
  nb::class_<DeviceHandle>(m, "Device", "A device: the CPU, or one CUDA card.")
      .def_static(
          "cpu",
          [](int threads) {
            if (threads < 0)
              fail(StatusCode::InvalidArgument, "threads is ", threads,
                   ", expected 0 (all cores) or more");
            return DeviceHandle::make(createCPUDevice({threads}), 0);
          },
          nb::arg("threads") = 0)
      .def_static(
          "cuda",
          [](int ordinal, const std::string &tuning,
             const std::string &tuningFile) {
            CUDADeviceOptions options;
            options.ordinal = ordinal;
            auto level = parseEnum<Tuning>(tuning, kNumTunings);
            if (!level)
              fail(StatusCode::InvalidArgument, "tuning is \"", tuning,
                   "\", expected off, fast or full");
            options.tuning = *level;
            options.tuningFile = tuningFile;
            nb::gil_scoped_release release;
            return DeviceHandle::make(check(createCUDADevice(options)),
                                      ordinal);
          },
          nb::arg("ordinal") = 0, nb::arg("tuning") = "off",
          nb::arg("tuning_file") = "")
      .def_prop_ro("name", &DeviceHandle::name, "\"cpu\", \"cuda:0\".")
      .def_prop_ro(
          "kind",
          [](DeviceHandle &d) { return std::string(nameOf(d.device->kind())); },
          "\"cpu\" or \"cuda\".")
      .def_prop_ro(
          "description",
          [](DeviceHandle &d) { return d.device->description(); },
          "The processor or card, in words.")
      .def_prop_ro(
          "free_bytes", [](DeviceHandle &d) { return d.device->freeBytes(); },
          "Memory that is free now; 0 where nobody counts.")
      .def_prop_ro(
          "num_threads", [](DeviceHandle &d) { return d.device->numThreads(); },
          "Threads of the CPU device; 1 for a GPU.")
      .def("__repr__", [](DeviceHandle &d) {
        return "aicf.Device(" + d.name() + ": " + d.device->description() + ")";
      });

  nb::class_<Array> type(
      m, "Array",
      "A dense array on a device: what a call returns, or what `aicf.array` "
      "makes.\n\nA 0-d array is a number where Python wants one: float(loss), "
      "total += loss,\nround(loss, 3), f\"{loss:.4f}\", loss < best. Other "
      "arrays give NumPy arrays in\nexpressions, when they are indexed and "
      "when "
      "they are iterated over. All of that\nwaits for the values and copies "
      "them to the host; on a GPU, arrays above 64 KiB\nare an error there: "
      "take numpy() once.\n\nPython's json module takes no objects of others: "
      "json.dumps(float(loss)), or\njson.dumps(logs, default=float).");
  defineArithmetic(type);
  type.def_prop_ro(
          "shape", [](Array &a) { return shapeTuple(a.data->desc); },
          nb::sig("def shape(self) -> tuple[int, ...]"),
          "Dimensions; () for a 0-d array.")
      .def_prop_ro(
          "dtype",
          [](Array &a) { return std::string(nameOf(a.data->desc.dtype)); },
          "\"f32\", \"f16\", \"bf16\", \"f64\", \"i32\" or \"i64\".")
      .def_prop_ro(
          "device", [](Array &a) { return a.data->device->name(); },
          "Where it is: \"cpu\", \"cuda:0\".")
      .def_prop_ro(
          "ndim", [](Array &a) { return int(a.data->desc.rank); },
          "The number of dimensions.")
      .def_prop_ro(
          "size", [](Array &a) { return a.data->desc.elements(); },
          "The number of elements.")
      .def_prop_ro(
          "nbytes", [](Array &a) { return a.data->desc.spanBytes(); },
          "Bytes of the elements.")
      .def("numpy", &toNumPy,
           "The values as a NumPy array; waits for them. On the CPU it shares "
           "the memory.",
           nb::sig("def numpy(self) -> typing.Any"))
      .def("item", &item, "The one element as a Python number.",
           nb::sig("def item(self) -> float | int"))
      .def("__float__", [](Array &a) { return nb::cast<double>(item(a)); })
      .def(
          "__int__",
          [](Array &a) {
            return nb::module_::import_("builtins").attr("int")(item(a));
          },
          nb::sig("def __int__(self) -> int"))
      .def("__bool__",
           [](Array &a) { return bool(PyObject_IsTrue(item(a).ptr())); })
      .def(
          "__format__",
          [](Array &a, nb::str spec) {
            nb::object value = nb::len(spec) == 0
                                   ? nb::object(nb::str(repr(a).c_str()))
                                   : item(a);
            return nb::module_::import_("builtins").attr("format")(value, spec);
          },
          nb::sig("def __format__(self, spec: str, /) -> str"))
      .def("__eq__", &compare<Py_EQ>, nb::arg("other").none(),
           nb::sig("def __eq__(self, other: object, /) -> typing.Any"))
      .def("__ne__", &compare<Py_NE>, nb::arg("other").none(),
           nb::sig("def __ne__(self, other: object, /) -> typing.Any"))
      .def("__lt__", &compare<Py_LT>, nb::arg("other").none(),
           nb::sig("def __lt__(self, other: typing.Any, /) -> typing.Any"))
      .def("__le__", &compare<Py_LE>, nb::arg("other").none(),
           nb::sig("def __le__(self, other: typing.Any, /) -> typing.Any"))
      .def("__gt__", &compare<Py_GT>, nb::arg("other").none(),
           nb::sig("def __gt__(self, other: typing.Any, /) -> typing.Any"))
      .def("__ge__", &compare<Py_GE>, nb::arg("other").none(),
           nb::sig("def __ge__(self, other: typing.Any, /) -> typing.Any"))
      .def("__getattr__", &refuseName,
           nb::sig("def __getattr__(self, name: str, /) -> typing.NoReturn"))
      .def("__hash__", [](Array &a) { return reinterpret_cast<intptr_t>(&a); })
      .def("__len__",
           [](Array &a) {
             if (a.data->desc.rank == 0)
               throw nb::type_error("a 0-d array has no length");
             return a.data->desc.dims[0];
           })
      .def(
          "__index__",
          [](Array &a) {
            if (a.data->desc.rank != 0 || isFloat(a.data->desc.dtype))
              throw nb::type_error(
                  ("an array of " + a.data->desc.toString() +
                   " is not an index: only a 0-d one of integers is")
                      .c_str());
            return item(a);
          },
          nb::sig("def __index__(self) -> int"))
      .def(
          "__array__",
          [](Array &a, nb::object dtype, nb::object copy) {
            nb::object array = toNumPy(a);
            if (!dtype.is_none())
              array = array.attr("astype")(dtype, nb::arg("copy") = false);
            if (!copy.is_none() && nb::cast<bool>(copy))
              array = array.attr("copy")();
            return array;
          },
          nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
          nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | "
                  "None = None) -> typing.Any"))
      .def("__dlpack__", &dlpack,
           nb::sig("def __dlpack__(self, **kwargs: typing.Any) -> typing.Any"))
      .def(
          "__dlpack_device__",
          [](Array &a) {
            return nb::make_tuple(a.data->device->isCPU()
                                      ? int(nb::device::cpu::value)
                                      : int(nb::device::cuda::value),
                                  a.data->device->ordinal);
          },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def(
          "tolist", [](Array &a) { return toNumPy(a).attr("tolist")(); },
          nb::sig("def tolist(self) -> typing.Any"),
          "The values as (nested lists of) Python numbers.")
      .def("__repr__", &repr);

  m.def(
      "array",
      [](nb::object values, std::shared_ptr<DeviceHandle> device) {
        Argument argument;
        auto host = DeviceHandle{};
        host.device = createCPUDevice({1});
        importAny(values, host, nullptr, Access::Read, "the array", argument);
        nb::gil_scoped_release release;
        return makeArray(device, argument.desc, argument.data);
      },
      nb::arg("values"), nb::arg("device"),
      "A copy of a host array on a device.",
      nb::sig("def array(values: typing.Any, device: Device) -> Array"));
  m.def(
      "zeros",
      [](const std::vector<int64_t> &shape, const std::string &dtype,
         std::shared_ptr<DeviceHandle> device) {
        if (shape.size() > kMaxRank)
          fail(StatusCode::ShapeMismatch, "a shape of ", shape.size(),
               " dimensions, expected at most ", kMaxRank);
        TensorDesc desc(parseDType(dtype), shape);
        if (!checkedBytes(desc))
          fail(StatusCode::ShapeMismatch, "the array would be ",
               desc.toString(), ", expected dimensions of 1 to ", INT32_MAX,
               " and up to ", kMaxTensorBytes, " bytes");
        return makeArray(device, desc, nullptr);
      },
      nb::arg("shape"), nb::arg("dtype"), nb::arg("device"),
      "An array of zeros on a device.");
}

} // namespace aicf::python
