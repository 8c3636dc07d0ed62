# The help of every command, from the table.
$ assay --version
> assay 0.1.0
? 0
$ assay --help
> usage: assay COMMAND [options]
> 
> Judges numeric kernels promise by promise, from outside their process.
> 
> commands:
>   list       show operators, suites and implementations, or the checks of an operator
>   certify    judge a candidate promise by promise and record the evidence
>   run        run some suites or checks (never certifies); reproduces a failing check
>   prove      sweep every FP32 value of the domain: digest, parity, accuracy
>   merge      combine the shards of a prove run into one run with the unsharded root
>   report     write a report of a run (Markdown, HTML, JSON, JUnit, CTRF)
>   explain    print the contract row, the case and the finding behind a check
>   verify     re-derive every verdict, hash and root of a database from its rows
>   audit      read the GPU code inside a file and say whether its arithmetic is relaxed
>   identify   name the lineage of the formula whose bits an implementation has, or the nearest
>   selftest   show that the harness can fail: judge a library of broken implementations
>   model      CUDA's expf, sinf and cosf on this CPU: answers, or the digest of all 2^32
>   doctor     say what this machine can and cannot verify, and why
>   new        write a working adapter project for your own kernel
> 
> assay COMMAND --help shows a command's options; assay help --man writes the manual page.
> exit codes: 0 certified or success, 1 refused or regression, 2 usage or bad input, 3 incomplete or cannot tell, 4 internal error
? 0
$ assay list --help
> usage: assay list [options]
> 
> show operators, suites and implementations, or the checks of an operator
> 
> options:
>       --checks                       list the checks of an operator instead: name, promise, required or not
>       --op NAME                      with --checks: the operator (default: the first)
>       --tier quick|default|full      with --checks: the tier (default default)
>       --lineage NAME                 with --checks: what the candidate claims (default: the operator's first)
>       --json                         print as JSON
>   -h, --help                         this text
? 0
$ assay certify --help
> usage: assay certify [options]
> 
> judge a candidate promise by promise and record the evidence
> 
> Runs every suite that the operator's contract asks for. The last line is
> VERDICT certified|refused|incomplete  op=... impl=... run=...
> Exit code 0 certified, 1 refused, 2 usage or bad input, 3 incomplete, 4 internal error.
> 
> options:
>       --op NAME                      operator whose contract is judged (required)
>       --impl NAME|FILE               the candidate: a built-in name, a shared library, or a program (required)
>       --baseline NAME|FILE           the implementation it is compared with
>       --device cpu|cuda:N            where the candidate runs (default cpu)
>       --tier quick|default|full      how much runs (default default)
>       --db FILE                      evidence database (default assay.db)
>       --report DIR                   write reports, figures and witnesses into DIR
>       --seed N                       seed of the inputs (default 1)
>       --threads N                    parallel lanes, one worker each (default: processors)
>       --timeout-ms N                 deadline of one call (default 30000)
>       --source DIR                   the candidate's source tree (default: the repository around it)
>       --resume RUN                   continue an interrupted run
>       --json                         print verdict and promises as JSON
>       --porcelain                    print promises as tab-separated lines, for programs
>   -q, --quiet                        no progress, only the verdict
>       --allow-dirty                  run with dirty or unknown trees; the verdict can only be incomplete
>   -h, --help                         this text
? 0
$ assay run --help
> usage: assay run [options]
> 
> run some suites or checks (never certifies); reproduces a failing check
> 
> Exit code 1 when a promise is broken, else 3: what a run leaves out is not verified.
> 
> options:
>       --op NAME                      operator whose contract is judged (required)
>       --impl NAME|FILE               the candidate: a built-in name, a shared library, or a program (required)
>       --baseline NAME|FILE           the implementation it is compared with
>       --device cpu|cuda:N            where the candidate runs (default cpu)
>       --tier quick|default|full      how much runs (default default)
>       --db FILE                      evidence database (default assay.db)
>       --report DIR                   write reports, figures and witnesses into DIR
>       --seed N                       seed of the inputs (default 1)
>       --threads N                    parallel lanes, one worker each (default: processors)
>       --timeout-ms N                 deadline of one call (default 30000)
>       --source DIR                   the candidate's source tree (default: the repository around it)
>       --resume RUN                   continue an interrupted run
>       --json                         print verdict and promises as JSON
>       --porcelain                    print promises as tab-separated lines, for programs
>   -q, --quiet                        no progress, only the verdict
>       --suite LIST                   only these suites (comma list)
>       --check PATTERN                only checks whose name matches this shell pattern
>   -h, --help                         this text
? 0
$ assay prove --help
> usage: assay prove [options]
> 
> sweep every FP32 value of the domain: digest, parity, accuracy
> 
> The last line is
> ROOT <64 hex>  outputs=... differing=...
> Exit code 0 when nothing differs and nothing is outside the tolerance, 1 otherwise, 3 when a segment could not be judged (then there is no root) or a file was changed meanwhile.
> 
> options:
>       --op NAME                      operator (required)
>       --impl NAME|FILE               the candidate (required)
>       --against NAME|FILE|ROOT       an implementation, a database with a digest tree, or a root of 64 hex digits
>       --accuracy                     measure every output against the FP64 golden (ulp histogram)
>       --device cpu|cuda:N            where the candidate runs (default cpu)
>       --threads N                    parallel lanes, one worker each (default: processors)
>       --shard I/N                    only shard I of N, I from 1 to N; assay merge combines them
>       --segments N                   only the first N segments of 64 tiles (for trying out)
>       --resume RUN                   continue an interrupted run
>       --db FILE                      evidence database (default assay.db)
>       --source DIR                   the candidate's source tree
>       --timeout-ms N                 deadline of one call (default 30000)
>       --json                         print the result as JSON
>   -q, --quiet                        no progress
>   -h, --help                         this text
? 0
$ assay merge --help
> usage: assay merge [options] DB...
> 
> combine the shards of a prove run into one run with the unsharded root
> 
> options:
>       --db FILE                      database that receives the merged run (default assay.db)
>   -h, --help                         this text
? 0
$ assay report --help
> usage: assay report [options] RUN
> 
> write a report of a run (Markdown, HTML, JSON, JUnit, CTRF)
> 
> RUN is a run number, a unique prefix of its id, or latest.
> 
> options:
>       --db FILE                      evidence database (default assay.db)
>       --format md|html|json|junit|ctrf what to write (default md)
>   -o, --output FILE                  write to FILE instead of standard output
>       --directory DIR                write all formats, figures and witnesses into DIR
>   -h, --help                         this text
? 0
$ assay explain --help
> usage: assay explain [options] CHECK
> 
> print the contract row, the case and the finding behind a check
> 
> options:
>       --db FILE                      evidence database (default assay.db)
>       --run RUN                      run number, id prefix or latest (default latest)
>   -h, --help                         this text
? 0
$ assay verify --help
> usage: assay verify [options] DB
> 
> re-derive every verdict, hash and root of a database from its rows
> 
> Prints one line per problem, naming table and row. Exit code 0 when nothing is wrong, 1 otherwise.
> 
> options:
>       --json                         print the result as JSON
>   -h, --help                         this text
? 0
$ assay selftest --help
> usage: assay selftest [options]
> 
> show that the harness can fail: judge a library of broken implementations
> 
> Every mutant, null and dishonest candidate must be refused by the suite meant for it, every correct variant must pass
> all suites. Prints the matrix subject x suite and stores it. Exit code 0 when all ended as expected, else 1.
> 
> options:
>       --op NAME                      operator (default timestep_sinusoid_h3)
>       --device cpu|cuda:N            which subjects, and where they run (default cpu)
>       --only PATTERN                 only subjects whose name matches this shell pattern
>       --directory DIR                where the broken implementations are (default: beside the built-in ones)
>       --repetitions N                runs of each correct variant (default 1)
>       --threads N                    parallel lanes (default: processors)
>       --db FILE                      evidence database (default assay.db)
>       --subjects-db FILE             database for the runs of single subjects (default: the same)
>       --json                         print the matrix as JSON
>   -q, --quiet                        no progress
>   -h, --help                         this text
? 0
$ assay doctor --help
> usage: assay doctor [options]
> 
> say what this machine can and cannot verify, and why
> 
> options:
>       --json                         print as JSON
>   -h, --help                         this text
? 0
$ assay new --help
> usage: assay new [options] NAME
> 
> write a working adapter project for your own kernel
> 
> options:
>       --directory DIR                where to put the project (default ./NAME)
>   -h, --help                         this text
? 0
$ assay help verify
> usage: assay verify [options] DB
> 
> re-derive every verdict, hash and root of a database from its rows
> 
> Prints one line per problem, naming table and row. Exit code 0 when nothing is wrong, 1 otherwise.
> 
> options:
>       --json                         print the result as JSON
>   -h, --help                         this text
? 0
$ assay help --man | head -n 6
> .TH ASSAY 1 "" "assay 0.1.0"
> .SH NAME
> assay \- judge numeric kernels promise by promise
> .SH SYNOPSIS
> .B assay
> .I COMMAND
? 0
$ assay help --man > page && if command -v groff > /dev/null; then groff -man -ww -Tascii page 2>&1 > /dev/null; fi
? 0
