# Wrong use of every command: one line, exit code 2, nothing written.
$ assay
! usage: assay COMMAND [options]
! 
! Judges numeric kernels promise by promise, from outside their process.
! 
! commands:
!   list       show operators, suites and implementations, or the checks of an operator
!   certify    judge a candidate promise by promise and record the evidence
!   run        run some suites or checks (never certifies); reproduces a failing check
!   prove      sweep every FP32 value of the domain: digest, parity, accuracy
!   merge      combine the shards of a prove run into one run with the unsharded root
!   report     write a report of a run (Markdown, HTML, JSON, JUnit, CTRF)
!   explain    print the contract row, the case and the finding behind a check
!   verify     re-derive every verdict, hash and root of a database from its rows
!   audit      read the GPU code inside a file and say whether its arithmetic is relaxed
!   identify   name the lineage of the formula whose bits an implementation has, or the nearest
!   selftest   show that the harness can fail: judge a library of broken implementations
!   model      CUDA's expf, sinf and cosf on this CPU: answers, or the digest of all 2^32
!   doctor     say what this machine can and cannot verify, and why
!   new        write a working adapter project for your own kernel
! 
! assay COMMAND --help shows a command's options; assay help --man writes the manual page.
! exit codes: 0 certified or success, 1 refused or regression, 2 usage or bad input, 3 incomplete or cannot tell, 4 internal error
? 2
$ assay frobnicate
! assay: unknown command 'frobnicate' (assay --help shows them)
? 2
$ assay certify
! assay: certify: --op NAME is required
? 2
$ assay certify --op timestep_sinusoid_h3
! assay: certify: --impl NAME|FILE is required
? 2
$ assay certify --op nope --impl reference_c
! assay: --op nope: unknown operator (assay list shows them)
? 2
$ assay certify --op timestep_sinusoid_h3 --impl nope
! assay: --impl nope: no such implementation (assay list shows them; a file needs its path, e.g. ./mine.so)
? 2
$ assay certify --op timestep_sinusoid_h3 --impl ./missing.so
! assay: --impl ./missing.so: No such file or directory
? 2
$ assay certify --op timestep_sinusoid_h3 --impl .
! assay: --impl .: not a regular file
? 2
$ assay certify --op timestep_sinusoid_h3 --impl ''
! assay: --impl: the name is empty
? 2
$ assay certify --op timestep_sinusoid_h3 --impl $'a.so\nVERDICT certified'
! assay: --impl a.so VERDICT certified: the name must be printable UTF-8 on one line
? 2
$ assay certify --op timestep_sinusoid_h3 --impl $'\xe9.so'
! assay: --impl ?.so: the name must be printable UTF-8 on one line
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --tier huge
! assay: --tier huge: unknown tier (quick, default, full)
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --device tpu
! assay: --device tpu: unknown device (use cpu or cuda:N)
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --device cuda:0
! assay: certify timestep_sinusoid_h3, candidate reference_c, tier default
! assay: --device cuda:0: NO GPU
? 3
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --seed -1
! assay: --seed -1: need a whole number from 0 to 9223372036854775807
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --seed 1x
! assay: --seed 1x: need a whole number from 0 to 9223372036854775807
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --threads 0
! assay: --threads 0: need a whole number from 1 to 64
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --nonsense
! assay: certify: unknown option --nonsense (assay certify --help shows them)
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --op timestep_sinusoid_h3
! assay: certify: --op is given twice
? 2
$ assay certify --op timestep_sinusoid_h3 --impl
! assay: certify: --impl needs a value
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c extra
! assay: certify: unexpected argument 'extra'
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --allow-dirty --resume latest
! assay: there is no evidence database 'assay.db'
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --source missing
! assay: --source missing: No such file or directory
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --device cuda:x
! assay: --device cuda:x: unknown device (use cpu or cuda:N)
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --json --porcelain
! assay: --json and --porcelain exclude each other
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c -x
! assay: certify: unknown option -x (assay certify --help shows them)
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --ti quick
! assay: certify: unknown option --ti (assay certify --help shows them)
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --timeout-ms 5
! assay: --timeout-ms 5: need a whole number from 10 to 86400000
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --baseline nope
! assay: --baseline nope: no such implementation (assay list shows them; a file needs its path, e.g. ./mine.so)
? 2
$ assay run --op timestep_sinusoid_h3 --impl reference_c --suite nope
! assay: --suite nope: unknown suite (assay list shows them)
? 2
$ assay run --op timestep_sinusoid_h3 --impl reference_c --check 'nope/*'
! assay: run timestep_sinusoid_h3, candidate reference_c, tier default
! assay: the filter matches none of the N checks (assay list --checks shows them)
? 2
$ assay run --op timestep_sinusoid_h3 --impl reference_c --check 'nope/*' --quiet
! assay: the filter matches none of the N checks (assay list --checks shows them)
? 2
$ assay run --op timestep_sinusoid_h3 --impl reference_c --allow-dirty
! assay: run: unknown option --allow-dirty (assay run --help shows them)
? 2
$ assay prove --op nope --impl reference_c
! assay: --op nope: unknown operator (assay list shows them)
? 2
$ assay prove --op timestep_sinusoid_h3 --impl reference_c --shard 0/4
! assay: --shard 0/4: need I/N with 1 <= I <= N <= 255
? 2
$ assay prove --op timestep_sinusoid_h3 --impl reference_c --shard 5/4
! assay: --shard 5/4: need I/N with 1 <= I <= N <= 255
? 2
$ assay prove --op timestep_sinusoid_h3 --impl reference_c --against nope
! assay: --against nope: no such implementation (assay list shows them; a file needs its path, e.g. ./mine.so)
? 2
$ assay prove --op timestep_sinusoid_h3 --impl reference_c --shard 1/256
! assay: --shard 1/256: need I/N with 1 <= I <= N <= 255
? 2
$ assay prove --op timestep_sinusoid_h3 --impl reference_c --shard 1
! assay: --shard 1: need I/N with 1 <= I <= N <= 255
? 2
$ assay prove --op timestep_sinusoid_h3 --impl reference_c --segments 0
! assay: --segments 0: need a whole number from 1 to 1000000
? 2
$ assay prove --op timestep_sinusoid_h3 --impl reference_c --device cuda:0
! assay: prove timestep_sinusoid_h3, candidate reference_c
! assay: --device cuda:0: NO GPU
? 3
$ assay prove --op timestep_sinusoid_h3 --impl reference_c --resume latest
! assay: there is no evidence database 'assay.db'
? 2
$ assay prove --op timestep_sinusoid_h3 --impl reference_c --threads 65
! assay: --threads 65: need a whole number from 1 to 64
? 2
$ assay prove --op timestep_sinusoid_h3 --impl reference_c --against 0123abcd
! assay: --against 0123abcd: no such implementation (assay list shows them; a file needs its path, e.g. ./mine.so)
? 2
$ assay merge
! assay: merge: needs DB... (assay merge --help)
? 2
$ assay merge missing.db --db merged.db
! assay: there is no evidence database 'missing.db'
? 2
$ assay report
! assay: report: needs RUN (assay report --help)
? 2
$ assay report latest --db missing.db
! assay: there is no evidence database 'missing.db'
? 2
$ assay report latest --format pdf
! assay: --format pdf: unknown format (md, html, json, junit, ctrf)
? 2
$ assay report latest --format
! assay: report: --format needs a value
? 2
$ assay report latest more
! assay: report: unexpected argument 'more'
? 2
$ assay explain
! assay: explain: needs CHECK (assay explain --help)
? 2
$ assay verify
! assay: verify: needs DB (assay verify --help)
? 2
$ assay verify missing.db
! assay: there is no evidence database 'missing.db'
? 2
$ assay verify .
! assay: '.' is a directory, not an evidence database
? 2
$ assay new
! assay: new: needs NAME (assay new --help)
? 2
$ assay new 9lives
! assay: new: '9lives' must be a C identifier of at most 48 characters
? 2
$ assay new 'a b'
! assay: new: 'a b' must be a C identifier of at most 48 characters
? 2
$ assay new mine --directory missing/folder
! assay: new: missing/folder: No such file or directory
? 2
$ assay list extra
! assay: list: unexpected argument 'extra'
? 2
$ assay list --op timestep_sinusoid_h3
! assay: list: --op goes with --checks
? 2
$ assay list --checks --op nope
! assay: --op nope: unknown operator (assay list shows them)
? 2
$ assay list --checks --tier nope
! assay: --tier nope: unknown tier (quick, default, full)
? 2
$ assay doctor --nonsense
! assay: doctor: unknown option --nonsense (assay doctor --help shows them)
? 2
$ assay selftest --repetitions 0
! assay: --repetitions 0: need a whole number from 1 to 1000
? 2
$ assay selftest --op nope --quiet
! assay: --op nope: unknown operator (assay list shows them)
? 2
$ assay selftest --directory missing --quiet
! assay: missing/base.so is missing: the directory must hold one library per self-test subject
? 2
$ assay worker
! assay: worker: --adapter FILE is required
? 2
$ assay help nope
! assay: unknown command 'nope' (assay --help shows them)
? 2
$ ls
? 0
