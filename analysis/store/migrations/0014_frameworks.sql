-- The program that trained, and its version; empty: hbench itself.
ALTER TABLE scaling_case ADD COLUMN framework TEXT NOT NULL DEFAULT '';
ALTER TABLE scaling_case ADD COLUMN framework_version TEXT NOT NULL DEFAULT '';
