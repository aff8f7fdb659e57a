-- Micro-batches of a step whose gradients are added up; 0: one. Samples of a step at every GPU count; 0: weak scaling.
ALTER TABLE scaling_case ADD COLUMN accumulate INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scaling_case ADD COLUMN global_batch INTEGER NOT NULL DEFAULT 0;
