WITH accuracy AS (
  SELECT run_id, min(distance) AS lo, max(distance) AS hi, 100.0 * sum(count) FILTER (WHERE distance = 0) / sum(count) AS share
  FROM ulp_histogram WHERE subject = 'accuracy' GROUP BY run_id),
parity AS (SELECT run_id, sum(bad) AS differing FROM checks WHERE suite = 'parity' GROUP BY run_id)
SELECT r.implementation AS candidate, CASE r.baseline WHEN '' THEN '-' ELSE r.baseline END AS against,
       format('%,d', t.rows * t.row_words) AS outputs,
       CASE WHEN p.run_id IS NULL THEN '-' ELSE format('%,d', p.differing) END AS differing,
       CASE WHEN a.run_id IS NULL THEN '-' ELSE format('%.1f %%', a.share) END AS "correctly rounded",
       CASE WHEN a.run_id IS NULL THEN '-' ELSE format('%d .. %+d', a.lo, a.hi) END AS "ulp to FP64",
       format('%.0f s', (SELECT sum(duration_ns) * 1e-9 FROM checks c WHERE c.run_id = r.id AND c.suite = 'digest')) AS time,
       substr(t.root, 1, 16) AS root
FROM runs r JOIN digest_tree t ON t.run_id = r.id LEFT JOIN accuracy a ON a.run_id = r.id LEFT JOIN parity p ON p.run_id = r.id
WHERE r.kind = 'prove' ORDER BY r.id;
