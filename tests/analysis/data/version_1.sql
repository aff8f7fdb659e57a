PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE run (
  id         INTEGER PRIMARY KEY,
  command    TEXT NOT NULL,  -- as typed
  version    TEXT NOT NULL,  -- of hbench
  store      TEXT NOT NULL,  -- name and revision of what wrote the rows, such as sqlite/1
  started_at TEXT NOT NULL   -- ISO 8601, UTC
);
INSERT INTO run VALUES(1,'hbench sweep','0.1.0','sqlite/1','2026-11-21T09:00:00Z');
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
INSERT INTO scaling_case VALUES(1,1,'evidence=measured;workload=resnet50;gpus=4;algorithm=ps;placement=greedy;servers=3;server_mode=dedicated;compressor=fp16;fusion=horovod:64MiB:5ms;overlap=no;profile=local;batch_per_gpu=101;image_size=224;single_gpu_rate=61.25;implementation=engine/1;source=O''Neil\; "quoted"\nsecond line','measured','resnet50',4,'ps','greedy',3,'dedicated','fp16','horovod:64MiB:5ms',0,'local',101,224,61.25,'engine/1',replace('O''Neil; "quoted"\nsecond line','\n',char(10)),'done','',0);
INSERT INTO scaling_case VALUES(2,1,'evidence=measured;workload=resnet50;gpus=4;algorithm=ps;placement=greedy;servers=3;server_mode=dedicated;compressor=fp16;fusion=horovod:64MiB:5ms;overlap=no;profile=local;batch_per_gpu=102;image_size=224;single_gpu_rate=61.25;implementation=engine/1;source=O''Neil\; "quoted"\nsecond line','measured','resnet50',4,'ps','greedy',3,'dedicated','fp16','horovod:64MiB:5ms',0,'local',102,224,61.25,'engine/1',replace('O''Neil; "quoted"\nsecond line','\n',char(10)),'failed','rank 3 was lost',5);
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
INSERT INTO sample VALUES(1,0,0,0,0,1,'step_seconds',1.0,'s');
INSERT INTO sample VALUES(1,1,0,1,1,0,'ledger/wait',1.1428571428571427937,'ms');
INSERT INTO sample VALUES(1,2,0,2,2,0,'step_seconds',1.2857142857142855874,'s');
INSERT INTO sample VALUES(1,3,1,3,3,0,'ledger/wait',1.4285714285714286031,'ms');
CREATE INDEX scaling_case_key ON scaling_case (key);
CREATE INDEX scaling_case_run ON scaling_case (run_id);
COMMIT;
PRAGMA application_id = 1751281251;
PRAGMA user_version = 1;
