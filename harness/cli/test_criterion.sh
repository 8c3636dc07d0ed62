#!/usr/bin/env bash
# Runs the tests of test_criterion_header.c one by one: those that must pass, and those that must fail with the right words.
# usage: test_criterion.sh PROGRAM ASSAY_BINARY
set -uo pipefail
program=$(realpath "${1:?usage: test_criterion.sh PROGRAM ASSAY_BINARY}")
assay=$(realpath "${2:?usage: test_criterion.sh PROGRAM ASSAY_BINARY}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export ASSAY_BIN=$assay ASSAY_TIER=quick DYING_ASSAY=$work/dying LC_ALL=C
unset ASSAY_DB
printf '#!/bin/sh\nprintf "promise\\tparity\\tkept\\trequired\\t\\n"\nkill -9 $$\n' >dying
chmod +x dying
bad=0

# expect TEST STATUS FAILED_ASSERTIONS TEXT...: one test, its outcome, and what it must say
expect() {
    local name=$1 status=$2 assertions=$3 got text
    shift 3
    "$program" --filter "$name" >out 2>&1
    got=$?
    if ! grep -q 'Tested: 1 ' out; then
        echo "FAILED $name: it did not run"
        bad=1
    fi
    [ $((got != 0)) -eq "$status" ] || { echo "FAILED $name: exit code $got"; bad=1; }
    [ "$(grep -c 'Assertion Failed' out)" -eq "$assertions" ] || { echo "FAILED $name: not $assertions failed assertions"; bad=1; }
    for text; do
        grep -qF -- "$text" out || { echo "FAILED $name: does not say '$text'"; bad=1; }
    done
    [ $bad -eq 0 ] || cat out
}
expect assay/one_line 0 0
expect header/kept 0 0
broken=$("$assay" certify --op timestep_sinusoid_h3 --impl fast_math --baseline libm --tier quick --allow-dirty --quiet --porcelain --db other.db |
    grep -cP '^promise\t.*\tbroken\trequired\t')
[ "$broken" -gt 0 ] || { echo "FAILED: fast_math breaks nothing"; bad=1; }
expect header/broken 1 "$broken" 'promise parity is broken: parity/' 'promise gradient_parity is broken: gradients/'
expect header/missing_file 1 1 './missing.so: No such file or directory' "--impl ./missing.so judged nothing: see its message above, exit code 2"
expect header/missing_program 1 1 '/nowhere/assay certify' 'No such file or directory'
expect header/dies 1 1 'ended without a verdict: exit code -1'
[ -f assay-criterion.db ] || { echo "FAILED: no evidence was kept"; bad=1; }
"$assay" verify assay-criterion.db || bad=1
exit $bad
