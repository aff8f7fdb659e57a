-- Activations that the backward pass of a predicted step computes again; empty: none.
ALTER TABLE scaling_case ADD COLUMN recompute TEXT NOT NULL DEFAULT '';
-- What the ranks of a job do in an iteration, such as local-sgd:8; empty: they train synchronously.
ALTER TABLE scaling_case ADD COLUMN method TEXT NOT NULL DEFAULT '';
-- A measured model of one's own is known by its file: this digest of it. Empty: the model is hbench's, or no model.
ALTER TABLE scaling_case ADD COLUMN model_digest TEXT NOT NULL DEFAULT '';
