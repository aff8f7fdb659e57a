PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE run (
  id         INTEGER PRIMARY KEY,
  command    TEXT NOT NULL,  -- as typed
  version    TEXT NOT NULL,  -- of hbench
  store      TEXT NOT NULL,  -- name and revision of what wrote the rows, such as sqlite/1
  started_at TEXT NOT NULL   -- ISO 8601, UTC
);
INSERT INTO run VALUES(1,'hbench collective','0.1.0','sqlite/1','2026-11-21T09:00:00Z');
CREATE TABLE environment (
  run_id INTEGER NOT NULL REFERENCES run (id),
  key    TEXT NOT NULL,
  value  TEXT NOT NULL,
  PRIMARY KEY (run_id, key)
) WITHOUT ROWID;
INSERT INTO environment VALUES(1,'cores','2');
INSERT INTO environment VALUES(1,'cpu','some CPU');
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
INSERT INTO scaling_case VALUES(1,1,'evidence=measured;workload=;gpus=2;algorithm=ring;placement=;servers=0;server_mode=;compressor=none;fusion=;overlap=yes;profile=local;batch_per_gpu=0;image_size=0;single_gpu_rate=0;implementation=collective/1;source=this machine''s CPU cores;collective=all-reduce;bytes=1024;data_type=float32;operation=sum;executor=threads;ranks_per_node=0;segments=0','measured','',2,'ring','',0,'','none','',1,'local',0,0,0.0,'collective/1','this machine''s CPU cores','done','',0);
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
INSERT INTO sample VALUES(1,0,0,0,0,0,'in_place_wrong',0.0,'elements');
INSERT INTO sample VALUES(1,1,0,0,0,0,'out_of_place_wrong',0.0,'elements');
INSERT INTO sample VALUES(1,2,0,0,0,0,'wire_bytes',1024.0,'B');
CREATE TABLE collective_case (
  case_id        INTEGER PRIMARY KEY REFERENCES scaling_case (id),
  collective     TEXT NOT NULL,     -- 'all-reduce', 'reduce-scatter', 'all-gather', 'broadcast'
  bytes          INTEGER NOT NULL,  -- of each rank's buffer
  data_type      TEXT NOT NULL,
  operation      TEXT NOT NULL,
  executor       TEXT NOT NULL,     -- 'mpi', 'shm', 'threads'
  ranks_per_node INTEGER NOT NULL,  -- of hierarchical algorithms, 0 of the others
  segments       INTEGER NOT NULL   -- of pipelined algorithms; 0: the algorithm's choice
);
INSERT INTO collective_case VALUES(1,'all-reduce',1024,'float32','sum','threads',0,0);
CREATE INDEX scaling_case_key ON scaling_case (key);
CREATE INDEX scaling_case_run ON scaling_case (run_id);
COMMIT;
PRAGMA application_id = 1751281251;
PRAGMA user_version = 2;
