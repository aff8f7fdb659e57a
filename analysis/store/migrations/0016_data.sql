-- What a training learns, such as mnist1d, and how often it sees all of it; empty and 0: samples are drawn. The
-- learning rate of one rank; 0: the optimizer's usual one.
ALTER TABLE scaling_case ADD COLUMN data TEXT NOT NULL DEFAULT '';
ALTER TABLE scaling_case ADD COLUMN epochs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scaling_case ADD COLUMN learning_rate REAL NOT NULL DEFAULT 0;
