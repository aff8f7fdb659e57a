-- What the ranks of a job do in an iteration, such as local-sgd:8; empty: they train synchronously.
ALTER TABLE scaling_case ADD COLUMN method TEXT NOT NULL DEFAULT '';
