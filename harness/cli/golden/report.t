# Views of one run.
$ assay run --op timestep_sinusoid_h3 --impl fast_math --tier quick --check parity/replay/rows_1 --quiet > /dev/null
? 1
$ assay report latest | head -n 3
> # ✗ refused: timestep\_sinusoid\_h3, run of fast\_math
> 
> **promise parity broken: parity/replay/rows\_1 failed: 54 of 256 words differ from the replay of libm, at most 1 ulp**
? 0
$ assay report 1 --format html | head -n 1
> <!DOCTYPE html>
? 0
$ assay report 1 --format json | json_keys | cut -d' ' -f 1
> binaries
> checks
> contract
> counts
> digest_trees
> knobs
> log
> profile
> promises
> provenance
> run
> schema
> selftest
> timing
> verdict
> witnesses
? 0
$ assay report 1 --format junit | head -n 2 | cut -c1-40
> <?xml version="1.0" encoding="UTF-8"?>
> <testsuites name="assay run timestep_sin
? 0
$ assay report 1 --format ctrf | json_keys
> extra implementation operator run verdict
> generatedBy
> reportFormat
> results summary tests tool
> specVersion
? 0
$ for f in md html json junit ctrf; do assay report 1 --format $f -o out.$f && assay report 1 --format $f | cmp - out.$f; done; ls out.*
> out.ctrf
> out.html
> out.json
> out.junit
> out.md
? 0
# Places that cannot be written: one line, the old file stays.
$ assay report 1 -o missing/out.md
! assay: cannot write missing/out.md: No such file or directory
? 2
$ assay report 1 -o /proc/out.md 2>&1 | cut -d: -f 1-2
> assay: cannot write /proc/out.md
? 0
$ mkdir folder && assay report 1 -o folder
! assay: cannot write folder: Is a directory
? 2
$ (ulimit -f 1; assay report 1 -o out.md)
! assay: cannot write out.md: File too large
? 4
$ assay report 1 | cmp - out.md && echo untouched
> untouched
? 0
$ assay report 1 --directory out.md
! assay: cannot create the report directory out.md: Not a directory
? 2
$ assay report 1 --directory /proc/report
! assay: cannot create the report directory /proc/report: No such file or directory
? 2
$ assay report 1 --directory all -o out.md
! assay: --output and --directory exclude each other
? 2
$ assay certify --op timestep_sinusoid_h3 --impl libm --tier quick --allow-dirty --quiet --db none.db --report /proc/report
! assay: cannot create the report directory /proc/report: No such file or directory
? 2
$ assay certify --op timestep_sinusoid_h3 --impl libm --tier quick --allow-dirty --quiet --db none.db --report out.md
! assay: cannot create the report directory out.md: Not a directory
? 2
$ assay certify --op timestep_sinusoid_h3 --impl libm --tier quick --allow-dirty --quiet --db missing/none.db --report fresh
! assay: evidence database 'missing/none.db' cannot be created: No such file or directory
? 2
$ assay report 1 --directory all && ls all | grep -E '^report'
> report.ctrf.json
> report.html
> report.json
> report.junit.xml
> report.md
? 0
$ assay report 1 --directory again && diff -r all again && echo same
> same
? 0
# Standard output that cannot be written, or that nobody reads to the end.
$ assay report 1 > /dev/full
! assay: standard output: not everything could be written
? 4
$ assay report 1 >&-
! assay: standard output: not everything could be written
? 4
$ assay list > /dev/full
! assay: standard output: No space left on device
? 4
$ assay list >&-
! assay: standard output: Bad file descriptor
? 4
$ assay doctor --json >&- 2>&-
? 4
$ assay certify --op timestep_sinusoid_h3 --impl nope --quiet >&- <&-
! assay: --impl nope: no such implementation (assay list shows them; a file needs its path, e.g. ./mine.so)
? 2
$ assay run --op timestep_sinusoid_h3 --impl libm --tier quick --check parity/replay/rows_1 --quiet >&- <&-
! assay: standard output: Bad file descriptor
? 4
$ assay verify assay.db
> assay.db: 2 runs, N rows, 0 problems
? 0
$ ls
> again
> all
> assay.db
> folder
> out.ctrf
> out.html
> out.json
> out.junit
> out.md
? 0
