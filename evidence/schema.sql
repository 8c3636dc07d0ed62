-- schema.sql - the evidence of runs (design section 13). Rows are only ever inserted: what changes over time (a run
-- that ends, a check that starts and ends) is a row in a table of its own, so that nothing needs an UPDATE.
--
-- row_hash: first 16 bytes of SHA-256 over the canonical form of the other columns (evidence/LOG.md). It lets
-- `assay verify` name a changed row; the run's leaf in the log covers all of them.
-- Append-only: triggers generated from the list in store_tables.h refuse UPDATE, DELETE and REPLACE on every table, and INSERT
-- for a run that has its run_result.
-- Floats that matter: *_bits holds the binary64 (or binary32) bit pattern, the REAL beside it is for reading.
PRAGMA application_id = 1095979865; -- "ASSY"
PRAGMA user_version = 1;

CREATE TABLE contract(
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE,
  operator TEXT NOT NULL,
  version INTEGER NOT NULL,
  text TEXT NOT NULL,           -- the contract's JSON, byte for byte
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16)
) STRICT;

-- One invocation on one machine.
CREATE TABLE run(
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,    -- 32 hex digits
  kind TEXT NOT NULL,           -- certify, run, prove, selftest
  operator TEXT NOT NULL,
  implementation TEXT NOT NULL, -- the candidate's name
  baseline TEXT NOT NULL,       -- the baseline's name, '' when none
  device TEXT NOT NULL,         -- cpu, cuda:0
  tier TEXT NOT NULL,           -- quick, default, full
  contract_id INTEGER NOT NULL REFERENCES contract(id),
  seed INTEGER NOT NULL,
  command TEXT NOT NULL,        -- the command line, shell-quoted
  started_ms INTEGER NOT NULL,  -- since 1970, UTC
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16)
) STRICT;

CREATE TABLE provenance(
  run_id INTEGER NOT NULL REFERENCES run(id),
  key TEXT NOT NULL,            -- e.g. assay.commit, assay.dirty, candidate.commit, cpu.model, os.kernel, env.X
  value TEXT NOT NULL,
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, key)
) STRICT;

CREATE TABLE binary(
  run_id INTEGER NOT NULL REFERENCES run(id),
  role TEXT NOT NULL,           -- assay, candidate, baseline
  path TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, role)
) STRICT;

CREATE TABLE knob(
  run_id INTEGER NOT NULL REFERENCES run(id),
  role TEXT NOT NULL,           -- candidate, baseline
  name TEXT NOT NULL,
  requested TEXT NOT NULL,
  effective TEXT NOT NULL,
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, role, name)
) STRICT;

-- What the run owed: copied from the contract (or claimed by the adapter).
CREATE TABLE promise(
  run_id INTEGER NOT NULL REFERENCES run(id),
  name TEXT NOT NULL,           -- e.g. parity, accuracy, invariance, gradient_accuracy
  ordinal INTEGER NOT NULL,
  suite TEXT NOT NULL,
  relation TEXT NOT NULL,       -- repeat, invariance, parity, accuracy, gradient_accuracy, validation, measured ...
  required INTEGER NOT NULL CHECK(required IN (0, 1)),
  text TEXT NOT NULL,           -- the promise in one sentence
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, name)
) STRICT;

-- Every check that the contract asked for at this tier, whether it ran or not.
CREATE TABLE check_plan(
  run_id INTEGER NOT NULL REFERENCES run(id),
  seq INTEGER NOT NULL,         -- 1, 2, ... within the run
  suite TEXT NOT NULL,
  name TEXT NOT NULL,           -- unique in the run, e.g. parity/random_1048576
  promise TEXT NOT NULL,
  required INTEGER NOT NULL CHECK(required IN (0, 1)),
  strength TEXT NOT NULL,       -- what a pass would prove: sampled, exhaustive
  case_json TEXT NOT NULL,      -- the fully specified case
  repro TEXT NOT NULL,          -- one command line that runs this check alone
  stage_id INTEGER REFERENCES stage(id),
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, seq),
  UNIQUE(run_id, name),
  FOREIGN KEY(run_id, promise) REFERENCES promise(run_id, name)
) STRICT;

-- The journal: committed before a check starts, so that a hang names its culprit.
CREATE TABLE check_start(
  run_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  attempt INTEGER NOT NULL,     -- 1, 2, ... after --resume
  started_ms INTEGER NOT NULL,
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, seq, attempt),
  FOREIGN KEY(run_id, seq) REFERENCES check_plan(run_id, seq)
) STRICT;

CREATE TABLE check_outcome(
  run_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK(outcome IN ('pass', 'fail', 'error', 'unavailable', 'unsupported', 'mistrusted')),
  reason TEXT NOT NULL,         -- one line, '' for a plain pass
  elements INTEGER NOT NULL,    -- output elements (or probes) judged
  bad INTEGER NOT NULL,         -- of those, the ones that broke the promise
  duration_ns INTEGER NOT NULL,
  finished_ms INTEGER NOT NULL,
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, seq),
  FOREIGN KEY(run_id, seq) REFERENCES check_plan(run_id, seq)
) STRICT;

CREATE TABLE metric(
  run_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  name TEXT NOT NULL,           -- e.g. max_abs, max_ulp, correctly_rounded_share, differing, zero_sign
  bits INTEGER NOT NULL,        -- binary64 pattern
  value REAL,                   -- NULL for NaN
  unit TEXT NOT NULL,           -- '' = dimensionless
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, seq, name),
  FOREIGN KEY(run_id, seq) REFERENCES check_outcome(run_id, seq) DEFERRABLE INITIALLY DEFERRED
) STRICT;

-- Signed ulp histogram: distance -32..32 (ends collect everything beyond), by biased exponent of the reference.
CREATE TABLE ulp_histogram(
  run_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  subject TEXT NOT NULL,        -- parity (against baseline), accuracy (against FP64 golden)
  exponent INTEGER NOT NULL,    -- 0..254; 255 = not comparable
  distance INTEGER NOT NULL,
  count INTEGER NOT NULL,
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, seq, subject, exponent, distance),
  FOREIGN KEY(run_id, seq) REFERENCES check_outcome(run_id, seq) DEFERRABLE INITIALLY DEFERRED
) STRICT;

-- Single elements worth showing: the first difference, the worst 16, a witness.
CREATE TABLE element(
  run_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL,           -- first, worst
  rank INTEGER NOT NULL,        -- 1, 2, ...
  row INTEGER NOT NULL,         -- row of the output
  channel INTEGER NOT NULL,     -- element inside the row
  input_bits INTEGER NOT NULL,  -- FP32 image of the row's input
  got_bits INTEGER NOT NULL,
  want_bits INTEGER NOT NULL,   -- baseline's FP32 bits, or the golden rounded to FP32
  golden_bits INTEGER,          -- binary64 bits of the golden, where there is one
  ulp REAL,
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, seq, kind, rank),
  FOREIGN KEY(run_id, seq) REFERENCES check_outcome(run_id, seq) DEFERRABLE INITIALLY DEFERRED
) STRICT;

-- Error against the input, for the figure: one row per bin of the input axis.
CREATE TABLE profile(
  run_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  subject TEXT NOT NULL,        -- candidate, baseline
  bin INTEGER NOT NULL,
  x REAL NOT NULL,              -- input at the bin's centre
  max_abs REAL NOT NULL,
  mean_ulp REAL NOT NULL,
  max_ulp REAL NOT NULL,
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, seq, subject, bin),
  FOREIGN KEY(run_id, seq) REFERENCES check_outcome(run_id, seq) DEFERRABLE INITIALLY DEFERRED
) STRICT;

-- Raw timing samples of one callable. samples_ns and positions are JSON arrays of integers of equal length:
-- the duration of iteration i, and its place in that iteration's order. The view `sample` unrolls them.
CREATE TABLE series(
  run_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  callable TEXT NOT NULL,       -- candidate, candidate_checked, baseline, candidate_backward, floor, roof_memset ...
  scope TEXT NOT NULL,          -- forward, backward_only, checked, floor, roof
  figure TEXT NOT NULL,         -- host, launch, device
  rows INTEGER NOT NULL,        -- T
  bytes INTEGER NOT NULL,       -- bytes that the callable must move
  repeat INTEGER NOT NULL,      -- calls per sample
  samples_ns TEXT NOT NULL,
  positions TEXT NOT NULL,
  flags TEXT NOT NULL,          -- '' or why samples are marked (throttled, ...)
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, seq, callable),
  FOREIGN KEY(run_id, seq) REFERENCES check_outcome(run_id, seq) DEFERRABLE INITIALLY DEFERRED
) STRICT;

-- Digest trees (harness/DIGEST.md).
CREATE TABLE digest_tree(
  run_id INTEGER NOT NULL REFERENCES run(id),
  name TEXT NOT NULL,           -- candidate, against
  tile_rows INTEGER NOT NULL,
  row_words INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  tiles INTEGER NOT NULL,
  first_tile INTEGER NOT NULL,  -- a shard covers [first_tile, first_tile + tiles) of all_tiles
  all_tiles INTEGER NOT NULL,
  root TEXT NOT NULL,           -- 64 hex digits over the tiles present; the unsharded root when all are
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, name)
) STRICT;

CREATE TABLE digest_tile(
  run_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  number INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  sums BLOB NOT NULL CHECK(length(sums) = 16), -- sum[0], sum[1], little-endian
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, name, number)
) STRICT;

-- The smallest input that shows a broken promise.
CREATE TABLE witness(
  run_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  text TEXT NOT NULL,           -- one line: what differs, in hex
  case_json TEXT NOT NULL,      -- operator, attributes, dtype, entry
  input BLOB NOT NULL,          -- FP32 little-endian
  got BLOB NOT NULL,
  want BLOB NOT NULL,
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, seq, ordinal),
  FOREIGN KEY(run_id, seq) REFERENCES check_outcome(run_id, seq) DEFERRABLE INITIALLY DEFERRED
) STRICT;

-- Ordered stages of a chain or lane, and fixtures from upstream (design section 13).
CREATE TABLE stage(
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run(id),
  ordinal INTEGER NOT NULL,
  name TEXT NOT NULL,
  mode TEXT NOT NULL CHECK(mode IN ('isolated', 'chained')),
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  UNIQUE(run_id, ordinal)
) STRICT;

CREATE TABLE fixture(
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run(id),
  stage_id INTEGER REFERENCES stage(id),
  name TEXT NOT NULL,
  source TEXT NOT NULL,         -- upstream project and commit
  sha256 TEXT NOT NULL,
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16)
) STRICT;

-- Mutant x suite matrix of a self-test.
CREATE TABLE selftest(
  run_id INTEGER NOT NULL REFERENCES run(id),
  subject TEXT NOT NULL,        -- mutant, null, dishonest or variant name
  class TEXT NOT NULL,          -- mutant, null, dishonest, variant, harness
  suite TEXT NOT NULL,
  expected TEXT NOT NULL,       -- caught, clean, any
  got TEXT NOT NULL,            -- pass, fail, error, ...
  detail TEXT NOT NULL,
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, subject, suite)
) STRICT;

-- Derived when the run ends; `assay verify` derives them again.
CREATE TABLE promise_result(
  run_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('kept', 'broken', 'not_verified')),
  strength TEXT NOT NULL,       -- the weakest among the checks that passed, '' when none did
  reason TEXT NOT NULL,
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16),
  PRIMARY KEY(run_id, name),
  FOREIGN KEY(run_id, name) REFERENCES promise(run_id, name)
) STRICT;

CREATE TABLE run_result(
  run_id INTEGER PRIMARY KEY REFERENCES run(id),
  verdict TEXT NOT NULL CHECK(verdict IN ('certified', 'refused', 'incomplete')),
  reason TEXT NOT NULL,
  finished_ms INTEGER NOT NULL,
  row_hash BLOB NOT NULL CHECK(length(row_hash) = 16)
) STRICT;

-- Each finished run is a leaf of an append-only Merkle log.
CREATE TABLE run_log(
  idx INTEGER PRIMARY KEY,      -- 0, 1, ...
  run_id INTEGER NOT NULL UNIQUE REFERENCES run_result(run_id),
  leaf TEXT NOT NULL,           -- 64 hex digits
  root TEXT NOT NULL            -- root of the log with leaves 0..idx
) STRICT;

CREATE VIEW checks AS
  SELECT p.run_id, p.seq, p.suite, p.name, p.promise, p.required, p.strength, p.case_json, p.repro,
         coalesce(o.outcome, CASE WHEN s.attempt > 0 THEN 'error' ELSE 'not_run' END) AS outcome,
         coalesce(o.reason, CASE WHEN s.attempt > 0 THEN 'started, never finished' ELSE 'never started' END) AS reason,
         coalesce(o.elements, 0) AS elements, coalesce(o.bad, 0) AS bad, coalesce(o.duration_ns, 0) AS duration_ns,
         coalesce(s.attempt, 0) AS attempts
  FROM check_plan p
  LEFT JOIN check_outcome o ON o.run_id = p.run_id AND o.seq = p.seq
  LEFT JOIN check_start s ON s.run_id = p.run_id AND s.seq = p.seq AND s.attempt =
       (SELECT max(attempt) FROM check_start t WHERE t.run_id = p.run_id AND t.seq = p.seq);

CREATE VIEW runs AS
  SELECT r.id, r.uuid, r.kind, r.operator, r.implementation, r.baseline, r.device, r.tier, r.seed, r.command, r.started_ms,
         coalesce(f.verdict, 'unfinished') AS verdict, coalesce(f.reason, '') AS reason, f.finished_ms
  FROM run r LEFT JOIN run_result f ON f.run_id = r.id;

CREATE VIEW promises AS
  SELECT p.run_id, p.ordinal, p.name, p.suite, p.relation, p.required, p.text,
         coalesce(q.state, 'not_verified') AS state, coalesce(q.strength, '') AS strength, coalesce(q.reason, 'run unfinished') AS reason
  FROM promise p LEFT JOIN promise_result q ON q.run_id = p.run_id AND q.name = p.name;

CREATE VIEW sample AS
  SELECT s.run_id, s.seq, s.callable, s.scope, s.figure, s.rows, s.repeat, d.key AS iteration, d.value AS ns, o.value AS position
  FROM series s, json_each(s.samples_ns) d JOIN json_each(s.positions) o ON o.key = d.key;
