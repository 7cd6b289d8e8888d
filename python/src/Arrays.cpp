//===- Arrays.cpp - arrays of others, and our own -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/src/Arrays.h"
#include "lib/Base/Element.h"

#include <cctype>
#include <cstring>

namespace aicf::python {

std::string DeviceHandle::name() const {
  std::string kind(nameOf(device->kind()));
  return isCPU() ? kind : kind + ":" + std::to_string(ordinal);
}

std::shared_ptr<DeviceHandle> DeviceHandle::make(std::shared_ptr<Device> device,
                                                 int ordinal) {
  auto handle = std::make_shared<DeviceHandle>();
  handle->stream = check(device->createStream());
  handle->device = std::move(device);
  handle->ordinal = ordinal;
  return handle;
}

std::shared_ptr<ExecutorHandle> ExecutorHandle::make() {
  return {new ExecutorHandle, [](ExecutorHandle *handle) noexcept {
            if (!nb::is_alive())
              return; // bound arrays went with the interpreter
            nb::gil_scoped_acquire acquire;
            delete handle;
          }};
}

void MemoryPool::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  for (auto &[bytes, blocks] : idle)
    for (void *block : blocks)
      device->device->deallocate(block);
  idle.clear();
  idleBytes = 0;
  for (auto &[bytes, block] : read)
    device->device->deallocate(block);
  read.clear();
  readBytes = 0;
}

bool MemoryPool::keep(uint64_t bytes, void *block) noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  if (device->isCPU() && idleBytes + bytes > kMostIdleBytes)
    return false;
  try {
    idle[bytes].push_back(block);
  } catch (const std::bad_alloc &) {
    return false;
  }
  idleBytes += bytes;
  return true;
}

void MemoryPool::keepRead(uint64_t bytes, void *block) noexcept {
  decltype(read) over;
  try {
    std::lock_guard<std::mutex> lock(mutex);
    read.emplace_back(bytes, block);
    readBytes += bytes;
    if (read.size() <= kMostReadBlocks && readBytes <= kMostReadBytes)
      return;
    over.swap(read);
    readBytes = 0;
  } catch (const std::bad_alloc &) {
    return device->device->deallocate(block);
  }
  device->device->deallocate(block); // waits for whatever reads one of them
  over.pop_back();
  for (auto &[itsBytes, other] : over)
    if (!keep(itsBytes, other))
      device->device->deallocate(other);
}

StatusOr<std::shared_ptr<void>>
MemoryPool::allocate(uint64_t bytes,
                     std::shared_ptr<std::atomic<bool>> isShared) {
  void *block = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex);
    std::vector<void *> &blocks = idle[bytes];
    if (!blocks.empty()) {
      block = blocks.back();
      blocks.pop_back();
      idleBytes -= bytes;
    }
  }
  if (!block) {
    StatusOr<void *> made = device->device->allocate(bytes);
    if (!made.ok()) {
      clear();
      made = device->device->allocate(bytes);
    }
    AICF_RETURN_IF_ERROR(made.status());
    block = *made;
  }
  return std::shared_ptr<void>(
      block, [pool = shared_from_this(), bytes, isShared](void *unused) {
        // On the CPU whoever reads keeps the memory: nobody does any more.
        if (!pool->device->isCPU() && isShared->load())
          pool->keepRead(bytes, unused);
        else if (!pool->keep(bytes, unused))
          pool->device->device->deallocate(unused);
      });
}

Status ArrayData::detach() {
  std::lock_guard<std::mutex> guard(mutex);
  if (!source)
    return {};
  bool isSmall = device->isCPU() && desc.spanBytes() <= sizeof(small);
  std::shared_ptr<void> own(std::shared_ptr<void>(), small);
  if (!isSmall) {
    isShared = std::make_shared<std::atomic<bool>>(false);
    AICF_ASSIGN_OR_RETURN(own,
                          source->pool->allocate(desc.spanBytes(), isShared));
  }
  AICF_RETURN_IF_ERROR(source->executor->read(
      output, own.get(), desc.spanBytes(), MemorySpace::Device));
  memory = std::move(own);
  if (!device->isCPU()) // there the copy is over
    writer = source;
  source.reset();
  return {};
}

Status ArrayData::synchronize() {
  std::shared_ptr<ExecutorHandle> handle;
  {
    std::lock_guard<std::mutex> guard(mutex);
    handle = source ? source : writer.lock();
  }
  if (!handle) // or its executor waited when it went
    return {};
  std::lock_guard<std::mutex> lock(handle->mutex);
  AICF_RETURN_IF_ERROR(detach());
  std::lock_guard<std::mutex> guard(mutex);
  AICF_RETURN_IF_ERROR(handle->executor->sync());
  writer.reset();
  return {};
}

Status ArrayData::orderBefore(void *stream) {
  std::shared_ptr<ExecutorHandle> handle;
  {
    std::lock_guard<std::mutex> guard(mutex);
    handle = source ? source : writer.lock();
  }
  if (!handle)
    return {};
  std::lock_guard<std::mutex> lock(handle->mutex);
  AICF_RETURN_IF_ERROR(detach());
  return handle->executor->orderBefore(stream);
}

std::optional<DType> dtypeOf(nb::dlpack::dtype dtype) {
  using Code = nb::dlpack::dtype_code;
  if (dtype.lanes != 1)
    return std::nullopt;
  switch (static_cast<Code>(dtype.code)) {
  case Code::Float:
    if (dtype.bits == 16)
      return DType::F16;
    if (dtype.bits == 32)
      return DType::F32;
    if (dtype.bits == 64)
      return DType::F64;
    return std::nullopt;
  case Code::Bfloat:
    return dtype.bits == 16 ? std::optional(DType::BF16) : std::nullopt;
  case Code::Int:
    if (dtype.bits == 32)
      return DType::I32;
    if (dtype.bits == 64)
      return DType::I64;
    return std::nullopt;
  case Code::Bool:
    return dtype.bits == 8 ? std::optional(DType::I1) : std::nullopt;
  default:
    return std::nullopt;
  }
}

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

/// The name that NumPy and PyTorch have for a type.
static const char *numpyNameOf(DType dtype) {
  constexpr const char *names[kNumDTypes] = {
      "float32", "float16", "bfloat16", "float64", "int32", "int64", "bool"};
  return names[uint8_t(dtype)];
}

static std::string describe(nb::dlpack::dtype dtype) {
  if (auto known = dtypeOf(dtype))
    return std::string(nameOf(*known));
  const char *codes[] = {"int",    "uint",    "float", "opaque",
                         "bfloat", "complex", "bool"};
  std::string name = dtype.code < 7 ? codes[dtype.code] : "unknown";
  return dtype.code == 6 ? name : name + std::to_string(dtype.bits);
}

static std::string describe(const nb::ndarray<nb::ro> &array) {
  std::string text = "(";
  for (size_t i = 0; i < array.ndim(); ++i)
    text += (i ? ", " : "") + std::to_string(array.shape(i));
  return text + (array.ndim() == 1 ? ",)" : ")");
}

static std::string typeName(nb::handle object) {
  return nb::cast<std::string>(
      nb::str(nb::handle((PyObject *)Py_TYPE(object.ptr())).attr("__name__")));
}

static bool isContiguous(const nb::ndarray<nb::ro> &array) {
  int64_t expected = 1;
  for (size_t i = array.ndim(); i-- > 0;) {
    if (array.shape(i) != 1 && array.stride(i) != expected)
      return false;
    expected *= int64_t(array.shape(i));
  }
  return true;
}

/// Another's array; of NumPy's bf16, which it does not export, the bits.
struct View {
  nb::ndarray<nb::ro> array;
  std::optional<DType> dtype;
};

static bool isNumPyBFloat(nb::handle object) {
  nb::object dtype = nb::getattr(object, "dtype", nb::none());
  nb::object name = nb::getattr(dtype, "name", nb::none());
  return nb::isinstance<nb::str>(name) &&
         nb::cast<std::string>(name) == "bfloat16" &&
         nb::hasattr(object, "view");
}

/// What an array says that cannot be exported: a tensor that requires a
/// gradient.
static std::string whyNot(nb::handle object) {
  try {
    if (nb::hasattr(object, "__dlpack__"))
      (void)object.attr("__dlpack__")();
  } catch (nb::python_error &error) {
    return ": " + nb::cast<std::string>(nb::str(error.value()));
  }
  return {};
}

/// A view of `object`: on a GPU with the producer's work ordered before what is
/// enqueued on `nativeStream` next.
static View viewOf(nb::handle object, void *nativeStream, Access access,
                   const std::string &what) {
  nb::ndarray<nb::ro> view;
  nb::object exported = nb::borrow(object);
  if (nativeStream && nb::hasattr(object, "__dlpack_device__")) {
    nb::object where = object.attr("__dlpack_device__")();
    if (nb::cast<int>(where[0]) == nb::device::cuda::value)
      exported = object.attr("__dlpack__")(
          nb::arg("stream") = reinterpret_cast<intptr_t>(nativeStream));
  }
  if (access == Access::Read) {
    if (nb::try_cast(exported, view))
      return {view, dtypeOf(view.dtype())};
  } else {
    nb::ndarray<> writable;
    if (nb::try_cast(exported, writable))
      return {nb::ndarray<nb::ro>(writable), dtypeOf(writable.dtype())};
    if (nb::try_cast(exported, view))
      fail(StatusCode::InvalidArgument, what,
           " is written, but the array is read-only");
  }
  if (isNumPyBFloat(object))
    return {
        viewOf(object.attr("view")("uint16"), nativeStream, access, what).array,
        DType::BF16};
  fail(StatusCode::DTypeMismatch, what, " is a ", typeName(object),
       ", expected an array (NumPy, PyTorch, JAX, CuPy, or anything with "
       "__dlpack__)",
       whyNot(object));
}

static void checkPlace(const nb::ndarray<nb::ro> &view,
                       const DeviceHandle &device, const std::string &what,
                       Argument &argument) {
  int type = view.device_type();
  bool isHost =
      type == nb::device::cpu::value || type == nb::device::cuda_host::value;
  bool isCard = type == nb::device::cuda::value && !device.isCPU() &&
                view.device_id() == device.ordinal;
  if (!isHost && !isCard)
    fail(StatusCode::InvalidArgument, what, " is on ",
         type == nb::device::cuda::value
             ? "cuda:" + std::to_string(view.device_id())
             : "DLPack device " + std::to_string(type),
         ", expected the host", device.isCPU() ? "" : " or " + device.name());
  if (!isContiguous(view))
    fail(StatusCode::InvalidArgument, what,
         " is not contiguous: pass numpy.ascontiguousarray(x) or "
         "x.contiguous()");
  argument.space = isCard ? MemorySpace::Device : MemorySpace::Host;
}

/// A Python number for a 0-d tensor.
static bool importNumber(nb::handle object, const TensorDesc &expected,
                         const std::string &what, Argument &argument) {
  bool isInt = PyLong_Check(object.ptr()), isReal = PyFloat_Check(object.ptr());
  if (expected.rank != 0 || (!isInt && !isReal))
    return false;
  if (!isFloat(expected.dtype) && isReal)
    fail(StatusCode::DTypeMismatch, what, " is a float, expected ",
         nameOf(expected.dtype));
  argument.isScalar = true;
  argument.desc = expected;
  if (isFloat(expected.dtype)) {
    double value = PyFloat_AsDouble(object.ptr());
    if (PyErr_Occurred())
      throw nb::python_error();
    storeElement(expected.dtype, argument.scalar, value);
    return true;
  }
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  bool is32 = expected.dtype == DType::I32;
  if (overflow || (is32 && value != int32_t(value)))
    fail(StatusCode::InvalidArgument, what, " is too large for ",
         nameOf(expected.dtype));
  static_assert(sizeof(value) == sizeof(argument.scalar));
  std::memcpy(argument.scalar, &value, sizeof(value)); // i32: the first half
  return true;
}

/// Arrays of ours need no DLPack.
static bool importOwn(nb::handle object, const DeviceHandle &device,
                      const std::string &what, Argument &argument) {
  Array *array = nullptr;
  (void)nb::try_cast(object, array);
  if (!array)
    return false;
  if (array->data->device->name() != device.name() &&
      !array->data->device->isCPU())
    fail(StatusCode::InvalidArgument, what, " is on ",
         array->data->device->name(), ", expected ", device.name());
  {
    nb::gil_scoped_release release;
    check(array->data->synchronize());
  }
  argument.desc = array->data->desc;
  argument.data = array->data->memory.get();
  argument.space =
      array->data->device->isCPU() ? MemorySpace::Host : MemorySpace::Device;
  argument.owner.array = nb::borrow(object);
  return true;
}

static void checkDesc(const TensorDesc &expected, const std::string &what,
                      const TensorDesc &given) {
  if (given.dtype != expected.dtype)
    fail(StatusCode::DTypeMismatch, what, " is ", nameOf(given.dtype),
         ", expected ", nameOf(expected.dtype));
  if (!given.sameShape(expected))
    fail(StatusCode::ShapeMismatch, what, " is ", given.toString(),
         ", expected ", expected.toString());
}

void importAny(nb::handle object, const DeviceHandle &device,
               void *nativeStream, Access access, const std::string &what,
               Argument &argument) {
  if (importOwn(object, device, what, argument))
    return;
  auto [view, dtype] = viewOf(object, nativeStream, access, what);
  if (!dtype)
    fail(StatusCode::DTypeMismatch, what, " is ", describe(view.dtype()),
         ", expected f16, bf16, f32, f64, i32 or i64");
  if (view.ndim() > kMaxRank)
    fail(StatusCode::ShapeMismatch, what, " has ", view.ndim(),
         " dimensions, expected at most ", kMaxRank);
  checkPlace(view, device, what, argument);
  argument.desc =
      TensorDesc(*dtype, Span<const int64_t>(view.shape_ptr(), view.ndim()));
  argument.data = view.data();
  argument.owner.view = view;
}

/// What the user may call an array: input "labels" is `labels`.
static std::string variableOf(const std::string &what) {
  size_t first = what.find('"'), last = what.rfind('"');
  std::string name = what.substr(first + 1, last - first - 1);
  bool isName = !std::isdigit(uint8_t(name[0]));
  for (char c : name)
    isName &= std::isalnum(uint8_t(c)) || c == '_';
  return isName ? name : "x";
}

void importAs(nb::handle object, const TensorDesc &expected,
              const DeviceHandle &device, void *nativeStream, Access access,
              const std::string &what, Argument &argument) {
  if (importNumber(object, expected, what, argument))
    return;
  if (importOwn(object, device, what, argument))
    return checkDesc(expected, what, argument.desc);
  auto [view, dtype] = viewOf(object, nativeStream, access, what);
  if (dtype != expected.dtype)
    fail(StatusCode::DTypeMismatch, what, " is ", describe(view.dtype()),
         ", expected ", nameOf(expected.dtype), ": ", variableOf(what),
         ".astype(\"", numpyNameOf(expected.dtype), "\") converts NumPy's, ",
         variableOf(what), ".to(torch.", numpyNameOf(expected.dtype),
         ") PyTorch's");
  bool isSame = view.ndim() == expected.rank;
  for (size_t i = 0; isSame && i < view.ndim(); ++i)
    isSame = int64_t(view.shape(i)) == expected.dims[i];
  if (!isSame)
    fail(StatusCode::ShapeMismatch, what, " has shape ", describe(view),
         ", expected ", expected.toString());
  checkPlace(view, device, what, argument);
  argument.desc = expected;
  argument.data = view.data();
  argument.owner.view = view;
}

Array makeArray(const std::shared_ptr<DeviceHandle> &device, TensorDesc desc,
                const void *from) {
  auto data = std::make_shared<ArrayData>();
  void *block = check(device->device->allocate(desc.spanBytes()));
  data->memory = std::shared_ptr<void>(
      block, [device](void *unused) { device->device->deallocate(unused); });
  data->desc = desc;
  data->device = device;
  if (from) {
    std::lock_guard<std::mutex> lock(device->mutex);
    check(device->device->copyToDevice(*device->stream, block, from,
                                       desc.spanBytes()));
    check(device->stream->synchronize()); // other streams know nothing of ours
  }
  return {std::move(data)};
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
