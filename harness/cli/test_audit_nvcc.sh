#!/usr/bin/env bash
# `assay audit` on what nvcc really writes: one option at a time, every packing, machine code alone, and the built adapters.
# usage: test_audit_nvcc.sh ASSAY_BINARY NVCC [IMPLS]       IMPLS: folder of cuda.so and cuda_fast_math.so
set -uo pipefail
assay=$(realpath "${1:?usage: test_audit_nvcc.sh ASSAY_BINARY NVCC [IMPLS]}")
nvcc=${2:?usage: test_audit_nvcc.sh ASSAY_BINARY NVCC [IMPLS]}
impls=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS
checks=0 bad=0

kernel() { echo "extern \"C\" __global__ void $1(float *o, const float *a, int n) { int i = threadIdx.x; o[i] = $2; }"; }
{
    kernel k_exp 'expf(a[i]) + exp2f(a[i + 1]) + exp10f(a[i + 2])'
    kernel k_sine 'sinf(a[i]) + cosf(a[i + 1])'
    kernel k_log 'logf(a[i]) + powf(a[i + 1], a[i + 2])'
    kernel k_division 'a[i] / a[i + 1] + 1.0f / a[i + 2]'
    kernel k_root 'sqrtf(a[i]) + rsqrtf(a[i + 1])'
    kernel k_product 'a[i] * a[i + 1] + o[i]'
    kernel k_integer 'a[i / n]'
    kernel k_others 'tanhf(a[i]) + erff(a[i]) + cbrtf(a[i]) + sinhf(a[i]) + fmodf(a[i], o[i]) + asinf(a[i]) + expm1f(a[i]) + erfcinvf(a[i])'
} >kernels.cu

expect() { # expect VERDICT CODE TEXT FILE [OPTION...]: the verdict line begins so, the output contains TEXT
    local verdict=$1 code=$2 text=$3 out rc
    shift 3
    checks=$((checks + 1))
    out=$("$assay" audit "$@" 2>&1)
    rc=$?
    if [ $rc -ne "$code" ] || ! grep -q "^VERDICT $verdict " <<<"$out" || ! grep -qF -- "$text" <<<"$out"; then
        bad=$((bad + 1))
        echo "FAILED: audit $*: expected $verdict ($code) with '$text', got $rc:"
        head -n 20 <<<"$out"
    fi
}
build() { "$nvcc" -arch=sm_90 "$@" kernels.cu || { echo "FAILED: nvcc $*"; exit 1; }; } # build OPTION...

build -ptx -o exact.ptx
expect exact 0 '8 exact' exact.ptx
build -ptx -fmad=false -o separate.ptx
expect exact 0 'fused 0, open 0, rounded 2' separate.ptx --kernel k_product
expect exact 0 'fused 1, open 0, rounded 0' exact.ptx --kernel k_product
build -ptx -prec-div=false -o division.ptx
expect relaxed 1 'div.full.f32 1' division.ptx --kernel k_division
expect exact 0 'exact' division.ptx --kernel k_root
build -ptx -prec-sqrt=false -o root.ptx
expect relaxed 1 'sqrt.approx.f32 1' root.ptx --kernel k_root
expect exact 0 'exact' root.ptx --kernel k_division
build -ptx -ftz=true -o flushed.ptx
expect relaxed 1 'fma.rn.ftz.f32 1' flushed.ptx --kernel k_product
build -ptx -Xcicc -fast-math -o hidden.ptx # the compiler's own option, which nvcc's flags do not show
expect relaxed 1 'sin.approx.f32 1' hidden.ptx --kernel k_sine
expect relaxed 1 'ex2.approx.f32 2' hidden.ptx --kernel k_exp
build -ptx --use_fast_math --ftz=false --prec-div=true --prec-sqrt=true -o reset.ptx
expect relaxed 1 'cos.approx.f32 1' reset.ptx --kernel k_sine
build -ptx --use_fast_math -o fast.ptx
expect relaxed 1 '1 exact, 7 relaxed' fast.ptx # integers are divided as ever

for mode in default none size speed balance; do
    "$nvcc" -gencode 'arch=compute_90,code=[sm_90,compute_90]' --compress-mode=$mode -fatbin kernels.cu -o $mode.fatbin || exit 1
    expect exact 0 'ptx compute_90' $mode.fatbin
    expect exact 0 'sass sm_90' $mode.fatbin
done
build -c -o object.o
"$nvcc" -arch=sm_90 --use_fast_math -dc kernels.cu -o fast.o || exit 1
ar rc archive.a object.o fast.o
expect exact 0 'sass sm_90' object.o
expect relaxed 1 'sass sm_90' archive.a

# Machine code alone: what it shows is relaxed, what it does not show is never exact.
for sm in 80 90 100; do
    "$nvcc" -arch=sm_$sm -cubin kernels.cu -o exact.cubin || exit 1
    "$nvcc" -arch=sm_$sm --use_fast_math -cubin kernels.cu -o fast.cubin || exit 1
    expect unknown 3 'MUFU.EX2' exact.cubin
    expect exact 0 "sass sm_$sm" exact.cubin --kernel k_sine
    expect exact 0 'exact' exact.cubin --kernel k_integer
    expect relaxed 1 'MUFU.SIN 1' fast.cubin --kernel k_sine
    expect relaxed 1 'FFMA.FTZ 1' fast.cubin --kernel k_product
done
# Exact PTX beside relaxed machine code excuses nothing.
cat exact.ptx - fast.cubin < <(printf '\0') >liar
expect relaxed 1 'MUFU.SIN' liar

# Functions of 16 bits are approximations in every build: neither exact nor an accusation.
{
    echo '#include <cuda_bf16.h>'
    echo 'extern "C" __global__ void narrow(__nv_bfloat16 *b) { int i = threadIdx.x; b[i] = b[i] / b[i + 1] + hsqrt(b[i + 2]) + htanh(b[i + 3]); }'
} >narrow.cu
"$nvcc" -gencode 'arch=compute_90,code=[sm_90,compute_90]' -fatbin narrow.cu -o narrow.fatbin || exit 1
expect unknown 3 'tanh.approx' narrow.fatbin

if [ -n "$impls" ]; then
    expect exact 0 'sass sm_90' "$impls/cuda.so"
    expect relaxed 1 'sin.approx.ftz.f32' "$impls/cuda_fast_math.so"
fi
echo "$checks checks, $bad failed"
[ "$checks" -gt 0 ] && [ "$bad" -eq 0 ]
