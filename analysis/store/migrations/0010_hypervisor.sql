-- Of the virtual machine where a case is timed; empty: none, or not known.
ALTER TABLE scaling_case ADD COLUMN hypervisor TEXT NOT NULL DEFAULT '';
