CREATE TABLE label (
  run_id INTEGER NOT NULL REFERENCES run (id),
  key    TEXT NOT NULL,
  value  TEXT NOT NULL,
  PRIMARY KEY (run_id, key)
) WITHOUT ROWID;

CREATE TABLE old_case AS SELECT * FROM scaling_case;
DROP TABLE scaling_case;
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
);
CREATE INDEX scaling_case_answers ON scaling_case (question, place);
CREATE INDEX scaling_case_run ON scaling_case (run_id);

INSERT INTO scaling_case
SELECT o.id, run_id, status, failure, exit_code, '', '', evidence, workload, gpus, algorithm, placement, servers,
       server_mode, compressor, fusion, overlap, coalesce(collective, ''), coalesce(bytes, 0), coalesce(data_type, ''),
       coalesce(operation, ''), coalesce(c.executor, t.executor, ''), coalesce(ranks_per_node, 0),
       coalesce(segments, 0),
       -- Collectives said it in their source only.
       CASE WHEN source = 'this machine''s GPUs' THEN 'gpu' ELSE coalesce(device, '') END, coalesce(precision, ''),
       batch_per_gpu, image_size, single_gpu_rate, profile, '', source, implementation
FROM old_case AS o LEFT JOIN collective_case AS c ON c.case_id = o.id LEFT JOIN training_case AS t ON t.case_id = o.id;

DROP TABLE collective_case;
DROP TABLE training_case;
DROP TABLE old_case;
