# cmake -DTEXT=file;file -DNAME=kText -DOUTPUT=file.cpp -P EmbedText.cmake
#
# Writes a C++ file whose `aicf::cuda::NAME` is the text of all files, in pieces,
# because compilers need not take a literal of more than 65,536 characters.
set(rest "")
foreach(file IN LISTS TEXT)
  file(READ "${file}" text)
  string(APPEND rest "${text}")
endforeach()
set(literals "")
while(NOT rest STREQUAL "")
  string(LENGTH "${rest}" length)
  if(length GREATER 16000)
    string(SUBSTRING "${rest}" 0 16000 piece)
    string(SUBSTRING "${rest}" 16000 -1 rest)
  else()
    set(piece "${rest}")
    set(rest "")
  endif()
  string(APPEND literals "R\"TEXT(${piece})TEXT\"\n")
endwhile()
file(WRITE "${OUTPUT}" "// Made by CMake from ${TEXT}.
namespace aicf::cuda {
extern const char ${NAME}[];
const char ${NAME}[] =
${literals};
} // namespace aicf::cuda
")
