#!/usr/bin/env bash
# Golden tests of the command line: each golden/*.t lists commands with the exact stdout (>), stderr (!) and exit code (?) they must give.
# Lines that start with # are comments. Commands run in an empty folder with `assay` on PATH. Hex ids, roots, times and paths of the temporary folder
# are replaced by placeholders on both sides.
# usage: test_golden.sh ASSAY_BINARY [FILE.t...]       ASSAY_GOLDEN_UPDATE=1 rewrites the expectations
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
assay=$(realpath "${1:?usage: test_golden.sh ASSAY_BINARY [FILE.t...]}")
shift
[ $# -gt 0 ] || set -- "$here"/golden/*.t
bin=$(dirname "$assay")
export PATH="$bin:$PATH" NO_COLOR=1 LC_ALL=C ASSAY_SOURCE="${ASSAY_SOURCE:-$(cd "$here/../.." && pwd)}" ASSAY_BUILD="$bin"
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
commands=0 bad=0

normalise() { # placeholders for what legitimately varies
    sed -E -e "s#$work/[^/ ]*#WORK#g" -e "s#$bin#BIN#g" -e "s#$ASSAY_SOURCE#SOURCE#g" -e 's/\b[0-9a-f]{64}\b/HASH/g' -e 's/\b[0-9a-f]{32}\b/RUN/g' \
        -e 's/[0-9]+(\.[0-9]+)? (GiB|s|ms|us)\b/N \2/g' -e 's/load average [0-9.]+/load average N/' -e 's/[0-9]+ processors/N processors/' \
        -e 's/"(run|uuid)": "[^"]*"/"\1": "RUN"/' -e 's/[0-9]+ bytes of [0-9]+/N bytes of N/' -e 's/the [0-9]+ checks/the N checks/' -e 's/[0-9]+ rows, /N rows, /' \
        -e 's/(--device cuda:[0-9]+): (this build has no CUDA backend|no CUDA driver).*/\1: NO GPU/' \
        -e 's/seq=[0-9]+/seq=N/' -e 's/arena of [0-9]+/arena of N/' -e 's/\(run ([0-9]+) \([0-9a-f]{8}\)/(run \1 (RUN)/' -e 's/run ([0-9]+|N) \([0-9a-f]{8}\)/run \1 (RUN)/g' -e 's/"rows": [0-9]+/"rows": N/' \
        -e 's/\.tmp[0-9]+|(out\.[a-z]+)\.[A-Za-z0-9]{6}\b/\1.TMP/'
}
json_keys() { # keys of the object on stdin, and of the first object in each of its lists
    python3 -c '
import json, sys
top = json.load(sys.stdin)
for k in sorted(top):
    v = top[k]
    print(k, *(sorted(v) if isinstance(v, dict) else sorted(v[0]) if isinstance(v, list) and v and isinstance(v[0], dict) else []))'
}
export -f json_keys
execute() { # execute COMMAND: prints the golden block of what it does
    (cd "$folder" && bash -c "$1") >"$work/out" 2>"$work/err" </dev/null
    local code=$?
    normalise <"$work/out" | sed 's/^/> /'
    normalise <"$work/err" | sed 's/^/! /'
    echo "? $code"
}
for file; do
    folder=$work/$(basename "$file" .t)
    mkdir -p "$folder"
    result=$work/result
    : >"$result"
    while IFS= read -r line; do
        case $line in
        '$ '*)
            commands=$((commands + 1))
            echo "$line" >>"$result"
            execute "${line#'$ '}" >>"$result"
            ;;
        '> '* | '! '* | '? '* | '>' | '!') ;;
        *) echo "$line" >>"$result" ;;
        esac
    done <"$file"
    if [ -n "${ASSAY_GOLDEN_UPDATE:-}" ]; then
        cp "$result" "$file"
    elif ! diff -u "$file" "$result"; then
        bad=$((bad + 1))
        echo "FAILED $file"
    fi
done
echo "$commands commands in $# files, $bad files differ"
[ "$commands" -gt 0 ] && [ "$bad" -eq 0 ]
