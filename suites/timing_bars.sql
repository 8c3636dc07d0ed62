-- timing_bars.sql - the speed that is asked of timestep_sinusoid_h3 on an H200, checked against the newest run of a
-- database:  sqlite3 assay.db < suites/timing_bars.sql
-- One line per bar: PASS or FAIL, the figure, what was measured. A bar that was not measured is a FAIL.
CREATE TEMP VIEW newest AS SELECT max(id) AS id FROM run WHERE device LIKE 'cuda%';
CREATE TEMP VIEW measured AS
  SELECT p.name AS check_name, m.name AS metric, m.value
  FROM check_plan p JOIN metric m ON m.run_id = p.run_id AND m.seq = p.seq
  WHERE p.run_id = (SELECT id FROM newest) AND p.suite = 'timing';
CREATE TEMP TABLE bar(check_name TEXT, metric TEXT, least REAL, most REAL, why TEXT);
INSERT INTO bar VALUES
  ('timing/rows_1048576_device', 'candidate_roof_share', 0.90, NULL, 'share of memset''s rate'),
  ('timing/rows_4194304_device', 'candidate_roof_share', 0.90, NULL, 'share of memset''s rate (full tier)'),
  ('timing/rows_1048576_device', 'candidate_backward_roof_share', 0.90, NULL, 'share of the reading rate'),
  ('timing/rows_4194304_device', 'candidate_backward_roof_share', 0.90, NULL, 'share of the reading rate (full tier)'),
  ('timing/rows_1_device', 'candidate_times_floor', NULL, 2.0, 'multiple of an empty kernel in a graph'),
  ('timing/rows_4_device', 'candidate_times_floor', NULL, 2.0, 'multiple of an empty kernel in a graph'),
  ('timing/rows_64_device', 'candidate_times_floor', NULL, 2.0, 'multiple of an empty kernel in a graph'),
  ('timing/rows_4096_device', 'candidate_median_ns', NULL, 2200.0, 'nanoseconds in a graph'),
  ('timing/rows_64_device', 'candidate_graph', 1.0, NULL, 'the call can be captured'),
  ('timing/rows_64_launch', 'ratio_candidate_baseline', NULL, 0.125, 'of the baseline''s time, launch included'),
  ('timing/rows_1048576_launch', 'ratio_candidate_baseline', NULL, 0.125, 'of the baseline''s time, launch included'),
  ('timing/rows_64_launch', 'nvml_readings', 1.0, NULL, 'readings of clocks and temperature');
SELECT CASE WHEN m.value IS NOT NULL AND m.value >= coalesce(b.least, m.value) AND m.value <= coalesce(b.most, m.value)
            THEN 'PASS' ELSE 'FAIL' END || ' ' || b.check_name || ' ' || b.metric || ' ' ||
       iif(m.value IS NULL, 'not measured', format('%.4g', m.value)) ||
       iif(b.least IS NULL, '', format(' (at least %.4g)', b.least)) ||
       iif(b.most IS NULL, '', format(' (at most %.4g)', b.most)) || ': ' || b.why
FROM bar b LEFT JOIN measured m ON m.check_name = b.check_name AND m.metric = b.metric;
SELECT CASE WHEN c.outcome = 'pass' THEN 'PASS ' ELSE 'FAIL ' END || c.name || ' ' || coalesce(c.outcome, 'not run') ||
       CASE WHEN coalesce(c.reason, '') = '' THEN '' ELSE ': ' || c.reason END
FROM checks c WHERE c.run_id = (SELECT id FROM newest) AND c.suite = 'timing';
SELECT CASE WHEN count(*) > 0 AND sum(value) <= 0.15 * count(*) + 1 THEN 'PASS ' ELSE 'FAIL ' END ||
       format('false alarms of the candidate against itself: %d of %d intervals (full tier)', sum(value), count(*))
FROM measured WHERE metric = 'false_alarm';
SELECT format('NOTE throttled iterations: %d', coalesce(sum(value), 0)) FROM measured WHERE metric = 'throttled_iterations';
