-- The optimizer, such as adam; empty: of measured steps SGD, else the one that the workload was recorded with.
ALTER TABLE scaling_case ADD COLUMN optimizer TEXT NOT NULL DEFAULT '';
