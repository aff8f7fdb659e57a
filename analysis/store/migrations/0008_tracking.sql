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
ALTER TABLE scaling_case ADD COLUMN benchmark TEXT NOT NULL DEFAULT '';
