SELECT r.implementation AS candidate, CASE r.baseline WHEN '' THEN '-' ELSE r.baseline END AS against,
       format('%,d', t.rows * t.row_words) AS outputs,
       coalesce((SELECT format('%,d', sum(bad)) FROM checks c WHERE c.run_id = r.id AND c.suite = 'parity'), '-') AS differing,
       coalesce((SELECT format('%.1f %%', 100.0 * sum(count) FILTER (WHERE distance = 0) / sum(count)) FROM ulp_histogram u
                 WHERE u.run_id = r.id AND u.subject = 'accuracy'), '-') AS "correctly rounded",
       coalesce((SELECT format('%d .. %+d', min(distance), max(distance)) FROM ulp_histogram u WHERE u.run_id = r.id
                 AND u.subject = 'accuracy'), '-') AS "ulp",
       format('%.0f s', (SELECT sum(duration_ns) * 1e-9 FROM checks c WHERE c.run_id = r.id AND c.suite = 'digest')) AS time,
       substr(t.root, 1, 16) AS root
FROM runs r JOIN digest_tree t ON t.run_id = r.id
WHERE r.kind = 'prove' ORDER BY r.id;
