-- Activations that the backward pass computes again: selective, full; empty: none.
ALTER TABLE scaling_case ADD COLUMN recompute TEXT NOT NULL DEFAULT '';
