CREATE TABLE run (
  id         INTEGER PRIMARY KEY,
  command    TEXT NOT NULL,  -- as typed
  version    TEXT NOT NULL,  -- of hbench
  store      TEXT NOT NULL,  -- name and revision of what wrote the rows, such as sqlite/1
  started_at TEXT NOT NULL   -- ISO 8601, UTC
);

CREATE TABLE environment (
  run_id INTEGER NOT NULL REFERENCES run (id),
  key    TEXT NOT NULL,
  value  TEXT NOT NULL,
  PRIMARY KEY (run_id, key)
) WITHOUT ROWID;

CREATE TABLE scaling_case (
  id              INTEGER PRIMARY KEY,
  run_id          INTEGER NOT NULL REFERENCES run (id),
  key             TEXT NOT NULL,     -- every field of what was asked, in one line; equal keys are the same case
  evidence        TEXT NOT NULL CHECK (evidence IN ('measured', 'emulated', 'simulated', 'published')),
  workload        TEXT NOT NULL,
  gpus            INTEGER NOT NULL,  -- workers
  algorithm       TEXT NOT NULL,     -- 'none': one process without communication
  placement       TEXT NOT NULL,     -- parameter servers only, like the next two
  servers         INTEGER NOT NULL,
  server_mode     TEXT NOT NULL,     -- 'dedicated', 'colocated' or empty
  compressor      TEXT NOT NULL,
  fusion          TEXT NOT NULL,
  overlap         INTEGER NOT NULL CHECK (overlap IN (0, 1)),
  profile         TEXT NOT NULL,     -- 'local': the machine of the run
  batch_per_gpu   INTEGER NOT NULL,
  image_size      INTEGER NOT NULL,  -- pixels; 0 where the workload fixes it
  single_gpu_rate REAL NOT NULL,     -- samples/s, as given by the user; 0 when not given
  implementation  TEXT NOT NULL,     -- name and revision of what produced the figures
  source          TEXT NOT NULL,     -- where the figures come from
  status          TEXT NOT NULL CHECK (status IN ('done', 'failed')),
  failure         TEXT NOT NULL,     -- one line, when failed
  exit_code       INTEGER NOT NULL
);
CREATE INDEX scaling_case_key ON scaling_case (key);
CREATE INDEX scaling_case_run ON scaling_case (run_id);

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
