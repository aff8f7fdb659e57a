-- Ranks that share each GPU; 0: each has its own.
ALTER TABLE scaling_case ADD COLUMN processes_per_gpu INTEGER NOT NULL DEFAULT 0;
