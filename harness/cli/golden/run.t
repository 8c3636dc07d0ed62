# One check that passes, one that fails: exit codes 3 (the rest is not verified) and 1.
$ assay run --op timestep_sinusoid_h3 --impl libm --tier quick --check parity/replay/rows_1 > out; echo $?; grep -E '^parity' out | tr -s ' '; tail -n 1 out
> 3
> parity not_verified 1/25 256 parity/replay/rows_2: not_run: never started
> VERDICT incomplete  op=timestep_sinusoid_h3 impl=libm run=RUN
! assay: run timestep_sinusoid_h3, candidate libm, tier quick
? 0
$ assay run --op timestep_sinusoid_h3 --impl fast_math --tier quick --check parity/replay/rows_1 > out; echo $?; grep -E '^parity' out | tr -s ' '; tail -n 3 out
> 1
> parity broken 0/25 256 parity/replay/rows_1 failed: 54 of 256 words differ from the replay of libm, at most 1 ulp
> promise parity broken: parity/replay/rows_1 failed: 54 of 256 words differ from the replay of libm, at most 1 ulp
> checks run: 1, passed: 0
> VERDICT refused  op=timestep_sinusoid_h3 impl=fast_math run=RUN
! assay: run timestep_sinusoid_h3, candidate fast_math, tier quick
! fail parity/replay/rows_1: 54 of 256 words differ from the replay of libm, at most 1 ulp
!   reproduce: assay run --op timestep_sinusoid_h3 --impl fast_math --tier quick --seed 1 --check 'parity/replay/rows_1'
? 0
$ assay run --op timestep_sinusoid_h3 --impl fast_math --tier quick --check parity/replay/rows_1 --json --quiet | json_keys
> checks
> implementation
> operator
> outcomes error fail mistrusted not_run pass unavailable unsupported
> promises checks elements name passed reason required state strength
> reason
> run
> run_id
> verdict
? 0
$ assay run --op timestep_sinusoid_h3 --impl fast_math --tier quick --check parity/replay/rows_1 --porcelain --quiet | grep -E '^promise.parity|^verdict'
> promise	parity	broken	required	parity/replay/rows_1 failed: 54 of 256 words differ from the replay of libm, at most 1 ulp
> verdict	refused	promise parity broken: parity/replay/rows_1 failed: 54 of 256 words differ from the replay of libm, at most 1 ulp
? 0
$ assay run --op timestep_sinusoid_h3 --impl libm --tier quick --suite parity,determinism --porcelain --quiet | cut -f 1-3 | grep -v timing
> promise	validation	not_verified
> promise	parity	kept
> promise	accuracy	not_verified
> promise	invariance	not_verified
> promise	gradient_accuracy	not_verified
> promise	gradient_parity	not_verified
> promise	gradient_invariance	not_verified
> promise	memory	not_verified
> promise	determinism	kept
> promise	cross_lineage_parity	not_verified
> verdict	incomplete	promise validation not verified: validation/reject_width_odd: not_run: never started
? 0
$ assay explain parity/replay/rows_1 --run 2 | sed -E 's/^(contract|case) .*/\1/' | head -n 12
> check       parity/replay/rows_1
> outcome     fail: 54 of 256 words differ from the replay of libm, at most 1 ulp
> judged      256, of which 54 bad
> strength    sampled
> promise     parity (relation parity, required): the forward bytes equal the replay of the lineage that the candidate claims, and those of a baseline of the same lineage
> contract
> case
> metric      differing = 54.0 
> metric      infinite = 0.0 
> metric      max_ulp = 1.0 ulp
> metric      nan_number = 0.0 
> metric      nan_payload = 0.0 
? 0
$ assay explain parity/replay/rows_1 --run 1 | grep -E '^(outcome|reproduce)'
> outcome     pass: every word equals the replay of libm
> reproduce   assay run --op timestep_sinusoid_h3 --impl libm --tier quick --seed 1 --check 'parity/replay/rows_1'
? 0
$ assay verify assay.db
> assay.db: 5 runs, N rows, 0 problems
? 0
# The whole of a certificate, as lines for programs. The source tree is unknown here, so a good candidate ends incomplete.
$ assay certify --op timestep_sinusoid_h3 --impl fast_math --baseline libm --tier quick --allow-dirty --quiet --porcelain --db two.db --source . | grep -v '^promise.timing' | cut -f 1-4
> promise	validation	kept	required
> promise	parity	broken	required
> promise	accuracy	kept	required
> promise	invariance	kept	required
> promise	gradient_accuracy	kept	required
> promise	gradient_parity	broken	required
> promise	gradient_invariance	kept	required
> promise	memory	kept	required
> promise	determinism	kept	required
> promise	cross_lineage_parity	not_verified	optional
> verdict	refused	promise parity broken: parity/replay/rows_1 failed: 54 of 256 words differ from the replay of libm, at most 1 ulp
? 0
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --baseline libm --tier quick --allow-dirty --quiet --json --db two.db --source . > json; echo $?; json_keys < json
> 3
> checks
> implementation
> operator
> outcomes error fail mistrusted not_run pass unavailable unsupported
> promises checks elements name passed reason required state strength
> reason
> run
> run_id
> verdict
? 0
$ grep -E '"verdict"' json
>   "verdict": "incomplete"
? 0
# Resuming what is finished, or what is another run.
$ assay certify --op timestep_sinusoid_h3 --impl libm --tier quick --allow-dirty --quiet --db two.db --resume 1
! assay: --resume 1: the run is already finished
? 2
$ assay run --op timestep_sinusoid_h3 --impl libm --tier quick --check parity/replay/rows_1 --quiet --resume 1
! assay: --resume 1: the run is already finished
? 2
$ ls
> assay.db
> json
> out
> two.db
? 0
# A seed that the contract uses too plans each case once.
$ for s in 3 4 5; do assay run --op timestep_sinusoid_h3 --impl reference_c --tier quick --seed $s --check 'gradients/golden/f32_257x256*' --quiet > /dev/null; echo $?; done
> 3
> 3
> 3
? 0
