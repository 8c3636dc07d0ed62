SELECT class, count(DISTINCT subject) AS subjects,
       count(DISTINCT subject) FILTER (WHERE suite = 'verdict' OR 1) AS judged
FROM selftest WHERE run_id = (SELECT max(run_id) FROM selftest) GROUP BY class ORDER BY class;
