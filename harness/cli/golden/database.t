# Databases that are not ours, damaged, or out of reach: one line, exit code 2, the file untouched.
$ : > empty.db && assay report latest --db empty.db
! assay: 'empty.db' is an empty file, not an evidence database; remove it or use another --db
? 2
$ head -c 5000 /dev/zero | tr '\0' x > garbage.db && cp garbage.db before && assay certify --op timestep_sinusoid_h3 --impl reference_c --db garbage.db --allow-dirty --quiet
! assay: 'garbage.db' is not an SQLite database; use another --db
? 2
$ cmp garbage.db before && echo untouched
> untouched
? 0
$ sqlite3 other.db 'CREATE TABLE t(x); INSERT INTO t VALUES(1);' && cp other.db before && assay certify --op timestep_sinusoid_h3 --impl reference_c --db other.db --allow-dirty --quiet
! assay: 'other.db' is a database of another program (application id 0x00000000); use another --db
? 2
$ cmp other.db before && echo untouched
> untouched
? 0
$ assay verify other.db
! assay: 'other.db' is a database of another program (application id 0x00000000); use another --db
? 2
$ assay run --op timestep_sinusoid_h3 --impl reference_c --tier quick --check 'determinism/*' --db good.db --quiet > /dev/null
? 3
$ head -c 40000 good.db > short.db && assay verify short.db
! assay: 'short.db' is truncated: N bytes of N
? 2
$ assay report latest --db short.db
! assay: 'short.db' is truncated: N bytes of N
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --db short.db --allow-dirty --quiet
! assay: 'short.db' is truncated: N bytes of N
? 2
$ sed 's/CREATE VIEW/CREATE_VIEW/' good.db > schema.db && assay report latest --db schema.db
! assay: evidence database 'schema.db': it is damaged; restore a copy or use another --db (while opening it)
? 2
$ assay report 99 --db good.db
! assay: 'good.db' has no run '99'
? 2
$ assay report nope --db good.db
! assay: 'nope' is not a run: give its number, four or more digits of its uuid, or latest
? 2
$ assay explain nope --db good.db
! assay: nope: run 1 has no such check (assay report lists them)
? 2
$ assay explain determinism/nope --db good.db --run 7
! assay: 'good.db' has no run '7'
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --tier quick --allow-dirty --quiet --db good.db --resume latest
! assay: --resume 1: the run is already finished
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --db missing/folder/x.db --allow-dirty --quiet
! assay: evidence database 'missing/folder/x.db' cannot be created: No such file or directory
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --db . --allow-dirty --quiet
! assay: '.' is a directory, not an evidence database
? 2
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --db '' --allow-dirty --quiet
! assay: the evidence database has an empty name; give --db FILE
? 2
$ assay prove --op timestep_sinusoid_h3 --impl reference_c --db other.db --quiet
! assay: 'other.db' is a database of another program (application id 0x00000000); use another --db
? 2
$ assay selftest --only null_zeros --db other.db --quiet
! assay: 'other.db' is a database of another program (application id 0x00000000); use another --db
? 2
$ assay merge good.db --db other.db
! assay: there is no finished prove run with a digest tree in the 1 source(s) ('good.db')
? 2
# verify names what is wrong
$ assay verify good.db
> good.db: 1 runs, N rows, 0 problems
? 0
$ assay verify good.db --json
> {
>   "database": "good.db",
>   "problems": [],
>   "rows": N,
>   "runs": 1
> }
? 0
$ cp good.db changed.db && sqlite3 changed.db "DROP TRIGGER $(sqlite3 good.db "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'check_outcome' AND sql LIKE '%UPDATE%'"); UPDATE check_outcome SET elements = elements + 1 WHERE seq = (SELECT min(seq) FROM check_outcome)" && assay verify changed.db
> schema: missing trigger check_outcome_no_update
> check_outcome(run_id=1, seq=N): the row was changed: its hash differs
> schema: not this version's, so nothing was derived again from the rows
> changed.db: 0 runs, N rows, 3 problems
? 1
$ python3 -c "d = bytearray(open('good.db', 'rb').read()); d[d.rindex(b'determinism/repeated')] ^= 1; open('flipped.db', 'wb').write(d)"
? 0
$ assay verify flipped.db > found; echo $?; grep -c 'differs' found
> 1
> 1
? 0
$ ls
> before
> changed.db
> empty.db
> flipped.db
> found
> garbage.db
> good.db
> other.db
> schema.db
> short.db
? 0
