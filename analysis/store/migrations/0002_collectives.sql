CREATE TABLE collective_case (
  case_id        INTEGER PRIMARY KEY REFERENCES scaling_case (id),
  collective     TEXT NOT NULL,     -- 'all-reduce', 'reduce-scatter', 'all-gather', 'broadcast'
  bytes          INTEGER NOT NULL,  -- of each rank's buffer
  data_type      TEXT NOT NULL,
  operation      TEXT NOT NULL,
  executor       TEXT NOT NULL,     -- 'mpi', 'shm', 'threads'
  ranks_per_node INTEGER NOT NULL,  -- of hierarchical algorithms, 0 of the others
  segments       INTEGER NOT NULL   -- of pipelined algorithms; 0: the algorithm's choice
);
