WITH m AS (
  SELECT CAST(substr(p.name, 13) AS INTEGER) AS rows, substr(p.name, instr(substr(p.name, 13), '_') + 13) AS figure, m.name, m.value
  FROM metric m JOIN check_plan p ON p.run_id = m.run_id AND p.seq = m.seq
  WHERE p.suite = 'timing' AND p.run_id = (SELECT max(id) FROM runs WHERE kind = 'certify' AND implementation = 'cuda'))
SELECT rows AS T,
       format('%.2f us', max(value) FILTER (WHERE figure = 'device' AND name = 'candidate_median_ns') / 1000) AS "cuda, in a graph",
       format('%.2f', max(value) FILTER (WHERE figure = 'device' AND name = 'candidate_times_floor')) AS "x empty kernel",
       CASE WHEN rows < 1048576 THEN '-' /* memset itself is not timed in a graph */
            ELSE format('%.2f', max(value) FILTER (WHERE figure = 'device' AND name = 'candidate_roof_share')) END AS "share of memset's rate",
       format('%.1f us', max(value) FILTER (WHERE figure = 'launch' AND name = 'candidate_median_ns') / 1000) AS "cuda, one launch",
       format('%.1f', 1 / max(value) FILTER (WHERE figure = 'launch' AND name = 'ratio_candidate_baseline')) AS "torch, times as long"
FROM m GROUP BY rows ORDER BY rows;
