PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE run (
  id         INTEGER PRIMARY KEY,
  command    TEXT NOT NULL,  -- as typed
  version    TEXT NOT NULL,  -- of hbench
  store      TEXT NOT NULL,  -- name and revision of what wrote the rows, such as sqlite/1
  started_at TEXT NOT NULL   -- ISO 8601, UTC
);
INSERT INTO run VALUES(1,'hbench sweep --gpus 1..16','0.1.0','sqlite/1','2026-11-21T09:00:00Z');
INSERT INTO run VALUES(2,'hbench sweep --gpus 2','0.1.0','sqlite/1','2026-11-21T10:00:00Z');
INSERT INTO run VALUES(3,'hbench sweep --gpus 2','0.1.0','sqlite/1','2026-11-21T11:00:00Z');
CREATE TABLE environment (
  run_id INTEGER NOT NULL REFERENCES run (id),
  key    TEXT NOT NULL,
  value  TEXT NOT NULL,
  PRIMARY KEY (run_id, key)
) WITHOUT ROWID;
INSERT INTO environment VALUES(1,'cores','2');
INSERT INTO environment VALUES(1,'cpu','some CPU');
INSERT INTO environment VALUES(1,'kernel','Linux 6.1.0');
INSERT INTO environment VALUES(1,'mpi','built in');
INSERT INTO environment VALUES(1,'torch','built in, 2.6.0+cpu');
INSERT INTO environment VALUES(2,'cores','64');
INSERT INTO environment VALUES(2,'cpu','other CPU');
INSERT INTO environment VALUES(2,'cuda','13.0');
INSERT INTO environment VALUES(2,'gpu','2 x NVIDIA H100');
INSERT INTO environment VALUES(2,'gpu_driver','580.65.06');
INSERT INTO environment VALUES(2,'mpi','built in');
INSERT INTO environment VALUES(2,'nccl','2.28.3');
INSERT INTO environment VALUES(2,'torch','built in, 2.6.0');
INSERT INTO environment VALUES(3,'cores','2');
INSERT INTO environment VALUES(3,'cpu','some CPU');
INSERT INTO environment VALUES(3,'kernel','Linux 6.9.0');
INSERT INTO environment VALUES(3,'mpi','built in');
INSERT INTO environment VALUES(3,'torch','built in, 2.6.0+cpu');
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
INSERT INTO scaling_case VALUES(1,1,'evidence=measured;workload=lenet5;gpus=1;algorithm=none;placement=;servers=0;server_mode=;compressor=;fusion=;overlap=no;profile=local;batch_per_gpu=16;image_size=28;single_gpu_rate=0;implementation=engine/1;source=this machine''s CPU cores, LibTorch, synthetic images','measured','lenet5',1,'none','',0,'','','',0,'local',16,28,0.0,'engine/1','this machine''s CPU cores, LibTorch, synthetic images','done','',0);
INSERT INTO scaling_case VALUES(2,1,'evidence=measured;workload=lenet5;gpus=2;algorithm=ring;placement=;servers=0;server_mode=;compressor=none;fusion=horovod:128MiB:1ms;overlap=yes;profile=local;batch_per_gpu=16;image_size=28;single_gpu_rate=0;implementation=engine/1;source=this machine''s CPU cores, LibTorch, synthetic images','measured','lenet5',2,'ring','',0,'','none','horovod:128MiB:1ms',1,'local',16,28,0.0,'engine/1','this machine''s CPU cores, LibTorch, synthetic images','done','',0);
INSERT INTO scaling_case VALUES(3,1,'evidence=simulated;workload=lenet5;gpus=16;algorithm=ps;placement=sliced;servers=4;server_mode=colocated;compressor=fp16;fusion=none;overlap=yes;profile=hkbu-10gbe;batch_per_gpu=16;image_size=0;single_gpu_rate=61.25;implementation=simulator/1;source=profile hkbu-10gbe (0123456789abcdef)\; a timeline','simulated','lenet5',16,'ps','sliced',4,'colocated','fp16','none',1,'hkbu-10gbe',16,0,61.25,'simulator/1','profile hkbu-10gbe (0123456789abcdef); a timeline','done','',0);
INSERT INTO scaling_case VALUES(4,1,'evidence=published;workload=lenet5;gpus=16;algorithm=ps;placement=sliced;servers=4;server_mode=colocated;compressor=fp16;fusion=none;overlap=yes;profile=hkbu-10gbe;batch_per_gpu=16;image_size=0;single_gpu_rate=0;implementation=published/1;source=https://example.org/paper (2019\; "quoted"\; it''s)','published','lenet5',16,'ps','sliced',4,'colocated','fp16','none',1,'hkbu-10gbe',16,0,0.0,'published/1','https://example.org/paper (2019; "quoted"; it''s)','done','',0);
INSERT INTO scaling_case VALUES(5,2,'evidence=measured;workload=lenet5;gpus=2;algorithm=vendor;placement=;servers=0;server_mode=;compressor=none;fusion=horovod:128MiB:1ms;overlap=yes;profile=local;batch_per_gpu=16;image_size=28;single_gpu_rate=0;implementation=engine/1;source=this machine''s GPUs, LibTorch, synthetic images;device=gpu;executor=nccl;precision=bf16','measured','lenet5',2,'vendor','',0,'','none','horovod:128MiB:1ms',1,'local',16,28,0.0,'engine/1','this machine''s GPUs, LibTorch, synthetic images','failed','rank 1 was lost',5);
INSERT INTO scaling_case VALUES(6,2,'evidence=measured;workload=;gpus=2;algorithm=ring;placement=;servers=0;server_mode=;compressor=none;fusion=;overlap=yes;profile=local;batch_per_gpu=0;image_size=0;single_gpu_rate=0;implementation=collective/1;source=this machine''s GPUs;collective=all-reduce;bytes=1024;data_type=float32;operation=sum;executor=cuda;ranks_per_node=2;segments=3','measured','',2,'ring','',0,'','none','',1,'local',0,0,0.0,'collective/1','this machine''s GPUs','done','',0);
INSERT INTO scaling_case VALUES(7,3,'evidence=measured;workload=lenet5;gpus=2;algorithm=ring;placement=;servers=0;server_mode=;compressor=none;fusion=horovod:128MiB:1ms;overlap=yes;profile=local;batch_per_gpu=16;image_size=28;single_gpu_rate=0;implementation=engine/1;source=this machine''s CPU cores, LibTorch, synthetic images','measured','lenet5',2,'ring','',0,'','none','horovod:128MiB:1ms',1,'local',16,28,0.0,'engine/1','this machine''s CPU cores, LibTorch, synthetic images','done','',0);
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
INSERT INTO sample VALUES(1,0,0,0,0,0,'step_seconds',0.5,'s');
INSERT INTO sample VALUES(1,1,0,0,1,0,'step_seconds',0.5,'s');
INSERT INTO sample VALUES(2,0,0,0,0,0,'step_seconds',1.0,'s');
INSERT INTO sample VALUES(2,1,0,1,0,0,'step_seconds',1.0,'s');
INSERT INTO sample VALUES(2,2,0,0,1,0,'step_seconds',1.0,'s');
INSERT INTO sample VALUES(2,3,0,1,1,0,'step_seconds',1.0,'s');
INSERT INTO sample VALUES(3,0,0,0,0,0,'step_seconds',0.25,'s');
INSERT INTO sample VALUES(3,1,0,0,0,0,'baseline_throughput',61.25,'samples/s');
INSERT INTO sample VALUES(4,0,0,0,0,0,'efficiency',0.9000000000000000222,'1');
INSERT INTO sample VALUES(6,0,0,0,0,0,'in_place_seconds',1.0000000000000000817e-05,'s');
INSERT INTO sample VALUES(7,0,0,0,0,0,'step_seconds',0.8000000000000000444,'s');
INSERT INTO sample VALUES(7,1,0,1,0,0,'step_seconds',0.8000000000000000444,'s');
INSERT INTO sample VALUES(7,2,0,0,1,0,'step_seconds',0.8000000000000000444,'s');
INSERT INTO sample VALUES(7,3,0,1,1,0,'step_seconds',0.8000000000000000444,'s');
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
INSERT INTO collective_case VALUES(6,'all-reduce',1024,'float32','sum','cuda',2,3);
CREATE TABLE training_case (
  case_id   INTEGER PRIMARY KEY REFERENCES scaling_case (id),
  device    TEXT NOT NULL,  -- 'gpu', or empty: CPU cores
  executor  TEXT NOT NULL,  -- 'nccl', 'nccl-p2p', 'cuda', 'threads', or empty: 'mpi'
  precision TEXT NOT NULL   -- 'tf32', 'bf16', 'fp16', or empty: float32
);
INSERT INTO training_case VALUES(5,'gpu','nccl','bf16');
CREATE INDEX scaling_case_key ON scaling_case (key);
CREATE INDEX scaling_case_run ON scaling_case (run_id);
COMMIT;
PRAGMA application_id = 1751281251;
PRAGMA user_version = 3;
