PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE run (
  id         INTEGER PRIMARY KEY,
  command    TEXT NOT NULL,  -- as typed
  version    TEXT NOT NULL,  -- of hbench
  store      TEXT NOT NULL,  -- name and revision of what wrote the rows, such as sqlite/1
  started_at TEXT NOT NULL   -- ISO 8601, UTC
, uuid TEXT NOT NULL DEFAULT '');
INSERT INTO run VALUES(1,'hbench sweep --gpus 1..16','0.2.0','sqlite/2','2026-11-21T09:00:00Z','889291e5-71b3-8514-81ad-0bc2094fa97e');
INSERT INTO run VALUES(2,'hbench sweep --gpus 2','0.2.0','sqlite/2','2026-11-21T10:00:00Z','fb823a1e-0902-8286-a55e-3ab56cd28f84');
INSERT INTO run VALUES(3,'hbench sweep --gpus 2','0.2.0','sqlite/2','2026-11-21T11:00:00Z','812e0066-8744-8c77-9459-121205483c79');
INSERT INTO run VALUES(4,'hbench sweep --preset ddp','0.1.0','sqlite/2','2026-11-23T12:47:01Z','3d3c5519-da96-8874-b425-e94a9e5a55e2');
INSERT INTO run VALUES(5,'hbench collective --ranks 2 --algorithm ring --executor threads --label branch=main','0.1.0','sqlite/2','2026-11-23T14:30:00Z','b1db101e-9d4d-45b7-9334-c96fc971922c');
INSERT INTO run VALUES(6,'hbench import bench.json','0.3.0','sqlite/2','2026-11-22T12:00:00Z','7d3c1a52-58f0-4c63-9a1e-5d0a2f4be811');
CREATE TABLE environment (
  run_id INTEGER NOT NULL REFERENCES run (id),
  key    TEXT NOT NULL,
  value  TEXT NOT NULL,
  PRIMARY KEY (run_id, key)
) WITHOUT ROWID;
INSERT INTO environment VALUES(1,'cores','2');
INSERT INTO environment VALUES(1,'cpu','some CPU');
INSERT INTO environment VALUES(1,'kernel','Linux 6.1.0');
INSERT INTO environment VALUES(1,'machine 0123456789abcdef','2 cores of some CPU');
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
INSERT INTO environment VALUES(4,'cores','2');
INSERT INTO environment VALUES(4,'kernel','Linux 6.1.0');
INSERT INTO environment VALUES(5,'compiler','g++ 12.2.0');
INSERT INTO environment VALUES(5,'cores','2');
INSERT INTO environment VALUES(5,'cpu','AMD EPYC');
INSERT INTO environment VALUES(5,'gpu','none used: ranks run on CPU cores');
INSERT INTO environment VALUES(5,'kernel','Linux 6.1.0');
INSERT INTO environment VALUES(5,'machine 54791befb3d5babc','2 cores of AMD EPYC, LibTorch 1.13, Open MPI v4.1');
INSERT INTO environment VALUES(5,'memory','24 GiB');
INSERT INTO environment VALUES(5,'mpi','built in');
INSERT INTO environment VALUES(5,'mpi_library','Open MPI v4.1.4');
INSERT INTO environment VALUES(5,'torch','built in, 1.13.0');
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
INSERT INTO sample VALUES(8,0,0,0,0,0,'step_seconds',0.65722682689551781276,'s');
INSERT INTO sample VALUES(8,1,0,0,0,0,'step_seconds_low',0.64000000000000001332,'s');
INSERT INTO sample VALUES(8,2,0,0,0,0,'step_seconds_high',0.73470769851547534923,'s');
INSERT INTO sample VALUES(8,3,0,0,0,0,'communication_seconds',0.034108317310859365134,'s');
INSERT INTO sample VALUES(8,4,0,0,0,0,'baseline_throughput',100.0,'samples/s');
INSERT INTO sample VALUES(9,2,0,0,0,0,'wire_bytes',1024.0,'B');
INSERT INTO sample VALUES(9,3,0,0,0,1,'in_place_seconds',1.1220000000000000148e-06,'s');
INSERT INTO sample VALUES(9,4,0,0,1,1,'in_place_seconds',8.919999999999999935e-07,'s');
INSERT INTO sample VALUES(9,5,0,0,2,1,'in_place_seconds',8.4099999999999997361e-07,'s');
INSERT INTO sample VALUES(9,6,0,0,3,1,'in_place_seconds',9.5199999999999994852e-07,'s');
INSERT INTO sample VALUES(9,7,0,0,4,1,'in_place_seconds',1.3620000000000000463e-06,'s');
INSERT INTO sample VALUES(9,8,0,0,5,1,'in_place_seconds',9.8200000000000008471e-07,'s');
INSERT INTO sample VALUES(9,9,0,1,0,1,'in_place_seconds',1.2920000000000000813e-06,'s');
INSERT INTO sample VALUES(9,10,0,1,1,1,'in_place_seconds',9.8100000000000000957e-07,'s');
INSERT INTO sample VALUES(9,11,0,1,2,1,'in_place_seconds',9.3200000000000003405e-07,'s');
INSERT INTO sample VALUES(9,12,0,1,3,1,'in_place_seconds',9.0100000000000003436e-07,'s');
INSERT INTO sample VALUES(9,13,0,1,4,1,'in_place_seconds',1.342000000000000026e-06,'s');
INSERT INTO sample VALUES(9,14,0,1,5,1,'in_place_seconds',1.0020000000000001049e-06,'s');
INSERT INTO sample VALUES(9,17,0,0,0,0,'in_place_seconds',3.2349999999999999437e-06,'s');
INSERT INTO sample VALUES(9,18,0,0,1,0,'in_place_seconds',2.2529999999999998588e-06,'s');
INSERT INTO sample VALUES(9,19,0,1,0,0,'in_place_seconds',3.194999999999999903e-06,'s');
INSERT INTO sample VALUES(9,20,0,1,1,0,'in_place_seconds',2.3640000000000001513e-06,'s');
INSERT INTO sample VALUES(10,0,0,0,0,0,'seconds',0.25,'s');
CREATE TABLE label (
  run_id INTEGER NOT NULL REFERENCES run (id),
  key    TEXT NOT NULL,
  value  TEXT NOT NULL,
  PRIMARY KEY (run_id, key)
) WITHOUT ROWID;
INSERT INTO label VALUES(1,'branch','main');
INSERT INTO label VALUES(1,'commit','abc');
INSERT INTO label VALUES(4,'branch','main');
INSERT INTO label VALUES(5,'branch','main');
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
, nodes INTEGER NOT NULL DEFAULT 0, preset TEXT NOT NULL DEFAULT '', benchmark TEXT NOT NULL DEFAULT '', processes_per_gpu INTEGER NOT NULL DEFAULT 0, accumulate INTEGER NOT NULL DEFAULT 0, global_batch INTEGER NOT NULL DEFAULT 0, recompute TEXT NOT NULL DEFAULT '', method TEXT NOT NULL DEFAULT '', model_digest TEXT NOT NULL DEFAULT '', optimizer TEXT NOT NULL DEFAULT '', framework TEXT NOT NULL DEFAULT '', framework_version TEXT NOT NULL DEFAULT '');
INSERT INTO scaling_case VALUES(1,1,'done','',0,'workload=lenet5;gpus=1;nodes=1;algorithm=none;batch_per_gpu=16;image_size=28','evidence=measured;profile=local;machine=0123456789abcdef','measured','lenet5',1,'none','',0,'','','',0,'',0,'','','',0,0,'','',16,28,0.0,'local','0123456789abcdef','this machine''s CPU cores, LibTorch, synthetic images','engine/1',1,'','',0,0,0,'','','','','','');
INSERT INTO scaling_case VALUES(2,1,'done','',0,'workload=lenet5;gpus=2;nodes=1;algorithm=ring;compressor=none;fusion=horovod:128MiB:1ms;overlap=yes;batch_per_gpu=16;image_size=28','evidence=measured;profile=local;machine=0123456789abcdef','measured','lenet5',2,'ring','',0,'','none','horovod:128MiB:1ms',1,'',0,'','','',0,0,'','',16,28,0.0,'local','0123456789abcdef','this machine''s CPU cores, LibTorch, synthetic images','engine/1',1,'','',0,0,0,'','','','','','');
INSERT INTO scaling_case VALUES(3,1,'done','',0,'workload=lenet5;gpus=16;algorithm=ps;placement=sliced;servers=4;server_mode=colocated;compressor=fp16;fusion=none;overlap=yes;batch_per_gpu=16;single_gpu_rate=61.25','evidence=simulated;profile=hkbu-10gbe;source=profile hkbu-10gbe (0123456789abcdef)\; a timeline','simulated','lenet5',16,'ps','sliced',4,'colocated','fp16','none',1,'',0,'','','',0,0,'','',16,0,61.25,'hkbu-10gbe','','profile hkbu-10gbe (0123456789abcdef); a timeline','simulator/1',0,'','',0,0,0,'','','','','','');
INSERT INTO scaling_case VALUES(4,1,'done','',0,'workload=lenet5;gpus=16;algorithm=ps;placement=sliced;servers=4;server_mode=colocated;compressor=fp16;fusion=none;overlap=yes;batch_per_gpu=16','evidence=published;profile=hkbu-10gbe;source=https://example.org/paper (2019\; "quoted"\; it''s)','published','lenet5',16,'ps','sliced',4,'colocated','fp16','none',1,'',0,'','','',0,0,'','',16,0,0.0,'hkbu-10gbe','','https://example.org/paper (2019; "quoted"; it''s)','published/1',0,'','',0,0,0,'','','','','','');
INSERT INTO scaling_case VALUES(5,2,'failed','rank 1 was lost',5,'workload=lenet5;gpus=2;nodes=1;algorithm=vendor;compressor=none;fusion=horovod:128MiB:1ms;overlap=yes;executor=nccl;device=gpu;precision=bf16;batch_per_gpu=16;image_size=28','evidence=measured;profile=local;machine=fedcba9876543210','measured','lenet5',2,'vendor','',0,'','none','horovod:128MiB:1ms',1,'',0,'','','nccl',0,0,'gpu','bf16',16,28,0.0,'local','fedcba9876543210','this machine''s GPUs, LibTorch, synthetic images','engine/1',1,'','',0,0,0,'','','','','','');
INSERT INTO scaling_case VALUES(6,2,'done','',0,'gpus=2;nodes=1;algorithm=ring;compressor=none;overlap=yes;collective=all-reduce;bytes=1024;type=float32;redop=sum;executor=cuda;ranks_per_node=2;segments=3;device=gpu','evidence=measured;profile=local;machine=fedcba9876543210','measured','',2,'ring','',0,'','none','',1,'all-reduce',1024,'float32','sum','cuda',2,3,'gpu','',0,0,0.0,'local','fedcba9876543210','this machine''s GPUs','collective/1',1,'','',0,0,0,'','','','','','');
INSERT INTO scaling_case VALUES(7,3,'done','',0,'workload=lenet5;gpus=2;nodes=1;algorithm=ring;compressor=none;fusion=horovod:128MiB:1ms;overlap=yes;batch_per_gpu=16;image_size=28','evidence=measured;profile=local;machine=0123456789abcdef','measured','lenet5',2,'ring','',0,'','none','horovod:128MiB:1ms',1,'',0,'','','',0,0,'','',16,28,0.0,'local','0123456789abcdef','this machine''s CPU cores, LibTorch, synthetic images','engine/1',1,'','',0,0,0,'','','','','','');
INSERT INTO scaling_case VALUES(8,4,'done','',0,'workload=resnet50;gpus=4;nodes=1;algorithm=ring;compressor=none;fusion=ddp:25MiB:1MiB;overlap=yes;preset=ddp;batch_per_gpu=64;single_gpu_rate=100','evidence=simulated;profile=hkbu-10gbe;source=profile hkbu-10gbe (170f9f32f9dcc339)\; timeline resnet50 (be897e31bdfeb2aa, measured per-tensor backward times on one V100, fp32, batch 32: github.com/netx-repo/training-bottleneck, commit f81b140\; forward taken as half of the backward pass (half of its multiply-adds))\; one GPU: given by --single-gpu-rate','simulated','resnet50',4,'ring','',0,'','none','ddp:25MiB:1MiB',1,'',0,'','','',0,0,'','',64,0,100.0,'hkbu-10gbe','','profile hkbu-10gbe (170f9f32f9dcc339); timeline resnet50 (be897e31bdfeb2aa, measured per-tensor backward times on one V100, fp32, batch 32: github.com/netx-repo/training-bottleneck, commit f81b140; forward taken as half of the backward pass (half of its multiply-adds)); one GPU: given by --single-gpu-rate','simulator/5',1,'ddp','',0,0,0,'','','','','','');
INSERT INTO scaling_case VALUES(9,5,'done','',0,'gpus=2;nodes=1;algorithm=ring;compressor=none;overlap=yes;collective=all-reduce;bytes=1024;type=float32;redop=sum;executor=threads','evidence=measured;profile=local;machine=54791befb3d5babc','measured','',2,'ring','',0,'','none','',1,'all-reduce',1024,'float32','sum','threads',0,0,'','',0,0,0.0,'local','54791befb3d5babc','this machine''s CPU cores','collective/1',1,'','',0,0,0,'','','','','','');
INSERT INTO scaling_case VALUES(10,6,'done','',0,'gpus=1;benchmark=checker_bench BM_Check/64','evidence=measured;profile=local;machine=0123456789abcdef','measured','',1,'','',0,'','','',0,'',0,'','','',0,0,'','',0,0,0.0,'local','0123456789abcdef','google benchmark','checker_bench',0,'','checker_bench BM_Check/64',0,0,0,'','','','','','');
CREATE TABLE acceptance (
  id          INTEGER PRIMARY KEY,
  run_id      INTEGER NOT NULL REFERENCES run (id),  -- the first run of a level that is wanted
  reason      TEXT NOT NULL,
  accepted_at TEXT NOT NULL  -- ISO 8601, UTC
);
INSERT INTO acceptance VALUES(1,3,'a newer kernel','2026-11-22T10:00:00Z');
CREATE TABLE frozen (
  name      TEXT NOT NULL,
  run_id    INTEGER NOT NULL REFERENCES run (id),  -- one of the runs that others are held to by this name
  frozen_at TEXT NOT NULL,  -- ISO 8601, UTC
  PRIMARY KEY (name, run_id)
) WITHOUT ROWID;
INSERT INTO frozen VALUES('release',3,'2026-11-22T13:00:00Z');
CREATE TABLE judgement (
  id        INTEGER PRIMARY KEY,
  run_id    INTEGER NOT NULL REFERENCES run (id),  -- that was judged
  judged_at TEXT NOT NULL,  -- ISO 8601, UTC
  version   TEXT NOT NULL,  -- of hbench
  baseline  TEXT NOT NULL,  -- what it was held to, in words
  rule      TEXT NOT NULL   -- JSON, as hbench track check --json prints it
);
INSERT INTO judgement VALUES(1,3,'2026-11-22T14:00:00Z','0.3.0','run 1','{"least_effect": 0.05}');
CREATE TABLE judgement_run (
  judgement_id INTEGER NOT NULL REFERENCES judgement (id),
  seq          INTEGER NOT NULL,  -- oldest first
  run_uuid     TEXT NOT NULL,  -- of the baseline, maybe in another database
  earlier      INTEGER NOT NULL CHECK (earlier IN (0, 1)),  -- before an accepted change: tells only how runs differ
  PRIMARY KEY (judgement_id, seq)
) WITHOUT ROWID;
INSERT INTO judgement_run VALUES(1,0,'889291e5-71b3-8514-81ad-0bc2094fa97e',0);
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
INSERT INTO verdict VALUES(1,1,'workload=lenet5;gpus=2','pass','',2,0.8000000000000000444,0.81000000000000005329,0.012500000000000000693,-0.010000000000000000208,0.029999999999999998889,0.4000000000000000222,0.4000000000000000222);
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
INSERT INTO span VALUES(2,0,21,0,0,0,0,0,1000000,-1);
INSERT INTO span VALUES(2,0,21,1,0,1,6,200000,300000,0);
CREATE INDEX scaling_case_answers ON scaling_case (question, place);
CREATE INDEX scaling_case_run ON scaling_case (run_id);
CREATE UNIQUE INDEX run_uuid ON run (uuid) WHERE uuid != '';
CREATE INDEX judgement_of_run ON judgement (run_id);
CREATE INDEX verdict_of_judgement ON verdict (judgement_id);
CREATE VIEW launch AS
WITH iterations AS (
  SELECT case_id, metric, launch, avg(value) AS seconds FROM sample
  WHERE metric IN ('step_seconds', 'paired_baseline_seconds') AND NOT warmup
  GROUP BY case_id, metric, launch, iteration
), placed AS (
  SELECT *, row_number() OVER (same ORDER BY seconds) AS place, count(*) OVER same AS n
  FROM iterations WINDOW same AS (PARTITION BY case_id, metric, launch)
)
SELECT case_id, metric, launch, avg(seconds) AS seconds FROM placed
WHERE place IN ((n + 1) / 2, (n + 2) / 2) GROUP BY case_id, metric, launch;
CREATE VIEW point AS
WITH step AS (  -- the median over launches
  SELECT case_id, avg(seconds) AS seconds FROM (
    SELECT case_id, seconds, row_number() OVER (PARTITION BY case_id ORDER BY seconds) AS place,
           count(*) OVER (PARTITION BY case_id) AS n FROM launch WHERE metric = 'step_seconds')
  WHERE place IN ((n + 1) / 2, (n + 2) / 2) GROUP BY case_id
), ratio AS (  -- of launches that had one process alone beside them, as a logarithm
  SELECT together.case_id, together.launch, ln(alone.seconds / together.seconds) AS value
  FROM launch AS together JOIN launch AS alone USING (case_id, launch)
  WHERE together.metric = 'step_seconds' AND alone.metric = 'paired_baseline_seconds'
), paired AS (  -- Hodges and Lehmann's estimate: the median over the means of all pairs of ratios
  SELECT case_id, exp(avg(value)) AS efficiency FROM (
    SELECT case_id, value, row_number() OVER (PARTITION BY case_id ORDER BY value) AS place,
           count(*) OVER (PARTITION BY case_id) AS n
    FROM (SELECT one.case_id, (one.value + other.value) / 2 AS value
          FROM ratio AS one JOIN ratio AS other ON other.case_id = one.case_id AND other.launch >= one.launch))
  WHERE place IN ((n + 1) / 2, (n + 2) / 2) GROUP BY case_id
), stated AS (  -- in the database as such: of predictions the rate of one GPU, of published figures all
  SELECT case_id, max(iif(metric = 'baseline_throughput', value, NULL)) AS alone,
         max(iif(metric = 'throughput', value, NULL)) AS throughput,
         max(iif(metric = 'efficiency', value, NULL)) AS efficiency
  FROM sample WHERE metric IN ('baseline_throughput', 'throughput', 'efficiency') GROUP BY case_id
), done AS (
  SELECT one.*, step.seconds AS step, stated.alone, paired.efficiency AS paired_efficiency,
         max(one.processes_per_gpu, 1) AS sharing,
         CASE one.evidence WHEN 'published' THEN coalesce(stated.throughput, stated.efficiency * alone * gpus)
           ELSE gpus * max(one.processes_per_gpu, 1) * batch_per_gpu / step.seconds END AS throughput,
         stated.efficiency AS stated_efficiency,
         (SELECT seconds FROM step AS its JOIN scaling_case AS base ON base.id = its.case_id
          WHERE base.algorithm = 'none' AND base.status = 'done'
            AND (base.run_id, base.place, base.implementation, base.workload, base.device, base.precision) =
                (one.run_id, one.place, one.implementation, one.workload, one.device, one.precision)
            AND (base.batch_per_gpu, base.image_size, base.single_gpu_rate) =
                (one.batch_per_gpu, one.image_size, one.single_gpu_rate)
          ORDER BY base.id DESC LIMIT 1) AS base_step
  FROM scaling_case AS one LEFT JOIN step ON step.case_id = one.id LEFT JOIN stated ON stated.case_id = one.id
    LEFT JOIN paired ON paired.case_id = one.id
  WHERE one.benchmark = '' AND one.collective = '' AND one.status = 'done'
)
SELECT id AS case_id, run_id, evidence, workload, gpus, algorithm, compressor, fusion, method, framework,
       framework_version, profile, nodes, batch_per_gpu, precision,
       CASE evidence WHEN 'published' THEN gpus * sharing * batch_per_gpu / throughput ELSE step END AS step_seconds,
       throughput, throughput / gpus AS throughput_per_gpu,
       CASE WHEN evidence = 'published' THEN coalesce(stated_efficiency, throughput / (alone * gpus))
         WHEN alone > 0 THEN batch_per_gpu / (alone * step)
         ELSE sharing * coalesce(paired_efficiency, base_step / step) END AS efficiency
FROM done
;
COMMIT;
PRAGMA application_id = 1751281251;
PRAGMA user_version = 15;
