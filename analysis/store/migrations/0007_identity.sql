-- Of runs of older schemas empty until `identify_runs` has given them theirs.
ALTER TABLE run ADD COLUMN uuid TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX run_uuid ON run (uuid) WHERE uuid != '';
