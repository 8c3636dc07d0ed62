SELECT p.text AS "what must hold", count(*) AS subjects, sum(c.outcome = 'pass') AS "as expected"
FROM promises p JOIN checks c ON c.run_id = p.run_id AND c.promise = p.name
WHERE p.run_id = (SELECT max(run_id) FROM selftest)
GROUP BY p.name ORDER BY p.ordinal;
