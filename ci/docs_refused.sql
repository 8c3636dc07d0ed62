SELECT p.name AS promise, p.state AS state, sum(c.outcome = 'pass') || '/' || count(*) AS checks,
       format('%,d', sum(c.bad)) AS "elements that broke it", format('%,d', sum(c.elements)) AS "elements judged"
FROM promises p JOIN checks c ON c.run_id = p.run_id AND c.promise = p.name
WHERE p.run_id = (SELECT max(id) FROM runs WHERE kind = 'certify' AND implementation = 'fast_math')
GROUP BY p.name ORDER BY p.ordinal;
