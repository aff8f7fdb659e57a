-- What came after hbench 0.1.0.

-- Micro-batches of a step whose gradients are added up; 0: one. Samples of a step at every GPU count; 0: weak scaling.
ALTER TABLE scaling_case ADD COLUMN accumulate INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scaling_case ADD COLUMN global_batch INTEGER NOT NULL DEFAULT 0;
-- Activations that the backward pass of a predicted step computes again; empty: none.
ALTER TABLE scaling_case ADD COLUMN recompute TEXT NOT NULL DEFAULT '';
-- What the ranks of a job do in an iteration, such as local-sgd:8; empty: they train synchronously.
ALTER TABLE scaling_case ADD COLUMN method TEXT NOT NULL DEFAULT '';
-- A measured model of one's own is known by its file: this digest of it. Empty: the model is hbench's, or no model.
ALTER TABLE scaling_case ADD COLUMN model_digest TEXT NOT NULL DEFAULT '';
-- The optimizer, such as adam; empty: of measured steps SGD, else the one that the workload was recorded with.
ALTER TABLE scaling_case ADD COLUMN optimizer TEXT NOT NULL DEFAULT '';
-- The program that trained, and its version; empty: hbench itself.
ALTER TABLE scaling_case ADD COLUMN framework TEXT NOT NULL DEFAULT '';
ALTER TABLE scaling_case ADD COLUMN framework_version TEXT NOT NULL DEFAULT '';

-- Figures for whoever reads the database without hbench, as analysis/points computes them: a row for each result of a
-- benchmark of training. What a result does not have is NULL. A median over n values is the mean of those that are at
-- (n + 1) / 2 and (n + 2) / 2, which are one where n is odd.

-- A launch: the median over its timed iterations of the mean over ranks.
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
FROM done;
