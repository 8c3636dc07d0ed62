#!/usr/bin/env bash
# assay identify: every lineage is told from all others, real implementations get the right name, others the nearest and where they depart.
# usage: test_identify.sh BUILD_FOLDER
set -uo pipefail
build=$(realpath "${1:?usage: test_identify.sh BUILD_FOLDER}")
assay=$build/assay
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
checks=0 bad=0

# expect CODE REGEX ARGUMENTS...: exit code of identify, and a line in what it prints
expect() {
    local code=$1 text=$2 rc
    shift 2
    "$assay" identify "$@" >out 2>&1
    rc=$?
    checks=$((checks + 1))
    if [ $rc -ne "$code" ] || ! grep -qE -- "$text" out; then
        bad=$((bad + 1))
        echo "FAILED: identify $*: expected $code with '$text', got $rc:"
        tail -n 8 out
    fi
}

for file in "$build"/impls/lineages/*.so; do
    name=$(basename "$file" .so)
    expect 0 "^LINEAGE $name  differing=0 outputs=1147392$" "lineages/$name"
done
[ $checks -ge 61 ] || { echo "FAILED: only $checks lineages"; bad=$((bad + 1)); }

expect 0 '^LINEAGE reciprocal_cuda  ' reference_c
expect 0 '^LINEAGE reciprocal_libm  ' libm
# Implementations written apart from the lineages, with the same formulas in them.
for pair in base:reciprocal freq_divide:divide freq_order:step_fp32 freq_half_minus_one:shift1 freq_fp64:fp64_frequency in_bf16_early:bf16_timestep \
    arg_bf16:bf16_argument arg_times_1000:scale_timestep arg_sigma:sigma out_sin_first:sin_cos out_interleaved:pairs; do
    expect 0 "^LINEAGE ${pair#*:}_libm  differing=0 " "mutants/${pair%:*}"
done
# One ulp too many in one channel of the middle row: the nearest, and where it departs.
expect 1 '^NEAREST reciprocal_libm  differing=8 outputs=1147392$' mutants/out_one_ulp
expect 1 '^departs from reciprocal_libm first at f32_2048x256_seed1_period10000, row 1024, channel 170: timestep 0x[0-9a-f]{8}, candidate 0x3cf37979, lineage 0x3cf37978$' mutants/out_one_ulp
expect 1 '^NEAREST ' mutants/null_nan
expect 0 '"identified": \[$' libm --json
[ "$(python3 -c 'import json; r = json.load(open("out")); print(r["identified"], len(r["lineages"]) >= 61, r["lineages"][1]["departs"]["candidate"][:2])')" = "['reciprocal_libm'] True 0x" ] ||
    { echo "FAILED: the JSON of libm"; bad=$((bad + 1)); }

# A folder of the user's own; what is no adapter of this operator is unavailable, not silent.
mkdir mine
cp "$build/impls/libm.so" mine/own.so
cp "$build/impls/mutants/load_abort.so" mine/broken.so
expect 0 '^LINEAGE libm  ' libm --lineages mine
expect 0 '^  broken.so +unavailable: ' libm --lineages mine
rm mine/own.so
expect 3 'no lineage could be compared' libm --lineages mine

# A candidate in device memory, over the device that is none.
assay=$build/fake/assay
export ASSAY_ADAPTER_INNER=$build/impls/reference_c.so
expect 0 '^LINEAGE reciprocal_cuda  ' "$build/fake/candidate.so" --device cuda:0 --lineages "$build/impls/lineages"
expect 2 'works on host memory, --device is cuda:0' "$ASSAY_ADAPTER_INNER" --device cuda:0 --lineages "$build/impls/lineages"
expect 2 'wants CUDA memory: use --device cuda:N' "$build/fake/candidate.so" --lineages "$build/impls/lineages"
assay=$build/assay

# Nothing to identify.
expect 2 '^assay: ' /dev/null
expect 2 'no such implementation' nobody
expect 2 'no adapter' libm --lineages "$work"
expect 2 'unknown operator' libm --op nothing
expect 2 'does not offer|other' mutants/load_other_operator
expect 3 'changed bytes that are not its own' mutants/mem_over_write
expect 2 'load_abort' mutants/load_abort
"$assay" doctor | grep -q 'cuda:0' || expect 3 '^assay: --device cuda:0: ' libm --device cuda:0

echo "$checks checks, $bad failed"
[ $bad -eq 0 ]
