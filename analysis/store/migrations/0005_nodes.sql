ALTER TABLE scaling_case ADD COLUMN nodes INTEGER NOT NULL DEFAULT 0;

-- Until now ranks were started on this machine alone.
UPDATE scaling_case SET nodes = 1 WHERE evidence = 'measured';
