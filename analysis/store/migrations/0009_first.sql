-- The results database of hbench 0.1.0.
CREATE TABLE run (
  id         INTEGER PRIMARY KEY,
  command    TEXT NOT NULL,  -- as typed
  version    TEXT NOT NULL,  -- of hbench
  store      TEXT NOT NULL,  -- name and revision of what wrote the rows, such as sqlite/1
  started_at TEXT NOT NULL   -- ISO 8601, UTC
, uuid TEXT NOT NULL DEFAULT '');
CREATE TABLE environment (
  run_id INTEGER NOT NULL REFERENCES run (id),
  key    TEXT NOT NULL,
  value  TEXT NOT NULL,
  PRIMARY KEY (run_id, key)
) WITHOUT ROWID;
CREATE TABLE sample (
  case_id   INTEGER NOT NULL REFERENCES scaling_case (id),
  seq       INTEGER NOT NULL,  -- order of arrival within the case
  launch    INTEGER NOT NULL,
  rank      INTEGER NOT NULL,
  iteration INTEGER NOT NULL,
  warmup    INTEGER NOT NULL CHECK (warmup IN (0, 1)),
  metric    TEXT NOT NULL,
  value     REAL NOT NULL,
  unit      TEXT NOT NULL,
  PRIMARY KEY (case_id, seq)
) WITHOUT ROWID;
CREATE TABLE label (
  run_id INTEGER NOT NULL REFERENCES run (id),
  key    TEXT NOT NULL,
  value  TEXT NOT NULL,
  PRIMARY KEY (run_id, key)
) WITHOUT ROWID;
CREATE TABLE scaling_case (
  id              INTEGER PRIMARY KEY,
  run_id          INTEGER NOT NULL REFERENCES run (id),
  status          TEXT NOT NULL CHECK (status IN ('done', 'failed')),
  failure         TEXT NOT NULL,  -- one line, when failed
  exit_code       INTEGER NOT NULL,
  question        TEXT NOT NULL,  -- what was asked; equal texts are equal questions
  place           TEXT NOT NULL,  -- where the answer holds; answers compare where it is equal
  evidence        TEXT NOT NULL CHECK (evidence IN ('measured', 'emulated', 'simulated', 'published')),
  workload        TEXT NOT NULL,
  gpus            INTEGER NOT NULL,
  algorithm       TEXT NOT NULL,
  placement       TEXT NOT NULL,
  servers         INTEGER NOT NULL,
  server_mode     TEXT NOT NULL,
  compressor      TEXT NOT NULL,
  fusion          TEXT NOT NULL,
  overlap         INTEGER NOT NULL CHECK (overlap IN (0, 1)),
  collective      TEXT NOT NULL,
  bytes           INTEGER NOT NULL,
  type            TEXT NOT NULL,
  redop           TEXT NOT NULL,
  executor        TEXT NOT NULL,
  ranks_per_node  INTEGER NOT NULL,
  segments        INTEGER NOT NULL,
  device          TEXT NOT NULL,
  precision       TEXT NOT NULL,
  batch_per_gpu   INTEGER NOT NULL,
  image_size      INTEGER NOT NULL,
  single_gpu_rate REAL NOT NULL,
  profile         TEXT NOT NULL,
  machine         TEXT NOT NULL,
  source          TEXT NOT NULL,
  implementation  TEXT NOT NULL
, nodes INTEGER NOT NULL DEFAULT 0, preset TEXT NOT NULL DEFAULT '', benchmark TEXT NOT NULL DEFAULT '', processes_per_gpu INTEGER NOT NULL DEFAULT 0);
CREATE INDEX scaling_case_answers ON scaling_case (question, place);
CREATE INDEX scaling_case_run ON scaling_case (run_id);
CREATE UNIQUE INDEX run_uuid ON run (uuid) WHERE uuid != '';
CREATE TABLE acceptance (
  id          INTEGER PRIMARY KEY,
  run_id      INTEGER NOT NULL REFERENCES run (id),  -- the first run of a level that is wanted
  reason      TEXT NOT NULL,
  accepted_at TEXT NOT NULL  -- ISO 8601, UTC
);
CREATE TABLE frozen (
  name      TEXT NOT NULL,
  run_id    INTEGER NOT NULL REFERENCES run (id),  -- one of the runs that others are held to by this name
  frozen_at TEXT NOT NULL,  -- ISO 8601, UTC
  PRIMARY KEY (name, run_id)
) WITHOUT ROWID;
CREATE TABLE judgement (
  id        INTEGER PRIMARY KEY,
  run_id    INTEGER NOT NULL REFERENCES run (id),  -- that was judged
  judged_at TEXT NOT NULL,  -- ISO 8601, UTC
  version   TEXT NOT NULL,  -- of hbench
  baseline  TEXT NOT NULL,  -- what it was held to, in words
  rule      TEXT NOT NULL   -- JSON, as hbench track check --json prints it
);
CREATE TABLE judgement_run (
  judgement_id INTEGER NOT NULL REFERENCES judgement (id),
  seq          INTEGER NOT NULL,  -- oldest first
  run_uuid     TEXT NOT NULL,  -- of the baseline, maybe in another database
  earlier      INTEGER NOT NULL CHECK (earlier IN (0, 1)),  -- before an accepted change: tells only how runs differ
  PRIMARY KEY (judgement_id, seq)
) WITHOUT ROWID;
CREATE TABLE verdict (
  id           INTEGER PRIMARY KEY,
  judgement_id INTEGER NOT NULL REFERENCES judgement (id),
  question     TEXT NOT NULL,
  verdict      TEXT NOT NULL,  -- pass, regressed, improved, inconclusive, missing, new or incomparable
  reason       TEXT NOT NULL,
  launches     INTEGER NOT NULL,  -- of the head that were judged
  before       REAL,  -- the middle launch of the baseline, in the unit of its metric; NULL where nothing was compared
  after        REAL,
  shift        REAL,  -- by which fraction the head's launches are above the baseline's
  shift_low    REAL,  -- 95 %
  shift_high   REAL,
  p            REAL,
  p_corrected  REAL   -- by Holm, over the gate
);
CREATE INDEX judgement_of_run ON judgement (run_id);
CREATE INDEX verdict_of_judgement ON verdict (judgement_id);
CREATE TABLE span (
  case_id     INTEGER NOT NULL REFERENCES scaling_case (id),
  launch      INTEGER NOT NULL,
  iteration   INTEGER NOT NULL,  -- a traced step, as in sample
  rank        INTEGER NOT NULL,
  seq         INTEGER NOT NULL,  -- of the rank's spans of this step
  lane        INTEGER NOT NULL,  -- 0 compute, 1 communication
  kind        INTEGER NOT NULL,  -- 0 step, 1 forward, 2 backward, 3 wait, 4 optimizer, 5 negotiation, 6 communication, 7 coding
  begin_ns    INTEGER NOT NULL,  -- since the launch's first span
  duration_ns INTEGER NOT NULL,
  bucket      INTEGER NOT NULL,  -- in the order in which buckets leave; -1: of none
  PRIMARY KEY (case_id, launch, iteration, rank, seq)
) WITHOUT ROWID;
