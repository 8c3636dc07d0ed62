#!/usr/bin/env bash
# The guard as CMake uses it: a relaxed environment leaves exact targets out with a warning; one that turns relaxed later, or a
# target's own option, stops the build; ASSAY_EXACT_MATH cannot be forged.
# usage: test_exact_cuda.sh SOURCE NVCC
set -uo pipefail
source=$(realpath "${1:?usage: test_exact_cuda.sh SOURCE NVCC}")
nvcc=${2:?usage: test_exact_cuda.sh SOURCE NVCC}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS TORCH_NVCC_FLAGS CUDAFLAGS
checks=0 bad=0
cat >k.cu <<'END'
#ifndef ASSAY_EXACT_MATH
#error "not guarded"
#endif
__global__ void k(float *x) { *x = 1.0f / *x; }
END
cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(guarded LANGUAGES C CUDA)
set(ASSAY_CUDA ON)
include($source/harness/core/exact_cuda/exact_cuda.cmake)
if(ASSAY_EXACT_CUDA)
  add_library(k OBJECT k.cu)
  target_compile_options(k PRIVATE \${MORE})
  assay_exact_cuda(k)
endif()
END

check() { # check NAME STATUS: the last command's status and output must be as expected
    checks=$((checks + 1))
    [ "$2" -eq 0 ] || { bad=$((bad + 1)); echo "FAILED: $1"; tail -n 20 out; }
}
configure() { "$@" cmake -S . -B build -G Ninja -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_ARCHITECTURES=90 "${options[@]}" >out 2>&1; }
build() { touch k.cu; "$@" cmake --build build >out 2>&1; }
has_target() { grep -q 'k.cu.o' build/build.ninja; }
warned() { tr -s ' \n' ' ' <out | grep -qF -- "$1"; }
# excluded NAME WARNING COMMAND...: configuring says so, and the target is gone
excluded() {
    local name=$1 text=$2
    shift 2
    configure "$@" && warned "exact arithmetic are left out: $text" && ! has_target
    check "$name" $?
}

options=(-DMORE=)
configure env && ! warned "left out" && has_target
check "a clean environment keeps the target" $?
build env
check "and it builds" $?
! grep -rq "ASSAY_EXACT_MATH" build/build.ninja
check "CMake's own command does not define the feature" $?
for variable in NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS TORCH_NVCC_FLAGS; do
    ! build env $variable=--use_fast_math && warned "exact_cuda: not compiled" && warned $variable
    check "$variable turns relaxed before the build" $?
    excluded "$variable relaxed" "$variable: not known to keep arithmetic exact: '--use_fast_math'" env $variable=--use_fast_math
    configure env && has_target
    check "and clean again" $?
done
excluded "an options file that is not there" "NVCC_APPEND_FLAGS: not a readable regular file of at most 1 MiB '/no/file'" env NVCC_APPEND_FLAGS="-optf /no/file"
excluded "a value that cannot be split" "NVCC_APPEND_FLAGS: quotes, backslashes and semicolons are not understood" env NVCC_APPEND_FLAGS='"-O2'
options=(-DMORE= -DCMAKE_CUDA_FLAGS=--ftz=true)
excluded "CMake's flags relaxed" "CMAKE_CUDA_FLAGS: not known to keep arithmetic exact: '--ftz=true'" env
options=(-DCMAKE_CUDA_FLAGS=)
for more in --use_fast_math --prec-div=false "-Xcicc;-fast-math" -DASSAY_EXACT_MATH=1 -UASSAY_EXACT_MATH -Dexpf=__expf -Xcompiler=-DASSAY_EXACT_MATH; do
    options[1]="-DMORE=$more"
    configure env && ! build env && warned "exact_cuda: not compiled"
    check "a target's own $more" $?
done
options[1]="-DMORE=-lineinfo;--ftz=false;--maxrregcount=64;-DX=--use_fast_math"
configure env && build env
check "harmless options of a target" $?
echo "$checks checks, $bad failed"
[ $bad -eq 0 ]
