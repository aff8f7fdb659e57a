-- Of runs of older schemas empty until `identify_runs` has given them theirs.
ALTER TABLE run ADD COLUMN uuid TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX run_uuid ON run (uuid) WHERE uuid != '';
CREATE TABLE acceptance (
  id          INTEGER PRIMARY KEY,
  run_id      INTEGER NOT NULL REFERENCES run (id),  -- the first run of a level that is wanted
  reason      TEXT NOT NULL,
  accepted_at TEXT NOT NULL  -- ISO 8601, UTC
);
