#!/usr/bin/env bash
# --device cuda:0 without a GPU: sweeps and suites over the fake device (fake_device/), whole and broken in one place at a time.
# usage: test_fake_device.sh BUILD_FOLDER
set -uo pipefail
build=$(realpath "${1:?usage: test_fake_device.sh BUILD_FOLDER}")
fake=$build/fake
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export ASSAY_ADAPTER_INNER=$build/impls/reference_c.so NO_COLOR=1
checks=0 bad=0

# expect CODE TEXT COMMAND...: exit code, and a text in what it prints or in the reasons of its run
expect() {
    local code=$1 text=$2 rc
    shift 2
    rm -f assay.db*
    "$@" >next 2>&1
    rc=$?
    mv next out
    [ -f assay.db ] && sqlite3 assay.db "SELECT reason FROM check_outcome" >>out
    checks=$((checks + 1))
    if [ $rc -ne "$code" ] || ! grep -qF -- "$text" out; then
        bad=$((bad + 1))
        echo "FAILED: $*: expected $code with '$text', got $rc:"
        tail -n 12 out
    fi
}
prove_on() { "$fake/assay" prove --op timestep_sinusoid_h3 --quiet --shard 200/255 --impl "$fake/candidate.so" --device "$@"; }
prove() { prove_on cuda:0 "$@"; }
broken() { # broken FAULT COMMAND...: the candidate has this fault
    local fault=$1
    shift
    ASSAY_ADAPTER_FAULT=$fault "$@"
}
device() { # device FAULT COMMAND...: the device has this fault
    local fault=$1
    shift
    ASSAY_FAKE=$fault "$@"
}
suites() { "$fake/assay" run --op timestep_sinusoid_h3 --quiet --tier quick --impl "$fake/candidate.so" --device cuda:0 "$@"; }
against=(--against "$fake/baseline.so")

"$fake/assay" prove --op timestep_sinusoid_h3 --quiet --shard 200/255 --impl "$build/impls/reference_c.so" >host 2>&1
root=$(sed -nE 's/^ROOT ([0-9a-f]{64}) .*/\1/p' host)
[ -n "$root" ] || { echo "FAILED: no root on the host"; cat host; exit 1; }
expect 0 "fake device" "$fake/assay" doctor
expect 0 "ROOT $root  outputs=1073741824 differing=0" prove "${against[@]}"
expect 0 "ROOT $root" prove --accuracy
expect 1 "64 of 1073741824 outputs differ, at most 1 ulp; first at input 0x31c0004d channel 5" broken element prove "${against[@]}"
expect 1 "a row was not written" broken row prove
expect 1 "wrote outside its output" broken outside prove
expect 1 "the input was changed" broken input prove
expect 1 "status out_of_memory" broken memory prove
expect 3 "killed by SIGSEGV" broken crash prove
expect 3 "exited with code 7" broken exit prove
expect 3 "fake error after the call" broken device prove
expect 3 "no answer within 500 ms" broken hang prove --timeout-ms 500
expect 3 "the scalar judge disagrees with the fast judge on a slice" device lie prove
expect 3 "no fake device 0" device absent prove
expect 3 "device memory is short" device short prove
expect 3 "no fake device 1" prove_on cuda:1
expect 2 "--device tpu" prove_on tpu
expect 2 "it works on host memory" prove --against "$build/impls/libm.so"
expect 3 "determinism          kept" suites --suite determinism
ASSAY_ADAPTER_INNER=$build/impls/mutants/out_sin_first.so expect 1 "accuracy             broken" suites --suite accuracy
echo "$checks checks, $bad failed"
[ $bad -eq 0 ]
