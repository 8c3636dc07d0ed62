# Broken implementations are refused by the suite meant for them; a pattern that matches nothing is an error.
$ assay selftest --only nothing_like_this --quiet
! assay: the filter nothing_like_this matches none of the self-test subjects
? 2
$ assay selftest --only null_zeros --quiet --db missing/x.db
! assay: evidence database 'missing/x.db' cannot be created: No such file or directory
? 2
$ ls
? 0
$ assay selftest --only null_zeros --quiet > out; echo $?; grep -E '^null_zeros' out | tr -s ' ' | cut -d' ' -f 1-10,12-; tail -n 1 out
> 0
> null_zeros null F F F . F . . - ok
> SELFTEST caught=1/1 clean=0/0 false_alarms=0 run=RUN
? 0
$ assay verify assay.db
> assay.db: 2 runs, N rows, 0 problems
? 0
# A database for subjects that cannot be opened leaves no other one behind.
$ assay selftest --only null_zeros --subjects-db missing/x.db --db refused.db --quiet; ls refused.db 2> /dev/null || echo none
> none
! assay: evidence database 'missing/x.db' cannot be created: No such file or directory
? 0
