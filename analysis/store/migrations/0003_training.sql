CREATE TABLE training_case (
  case_id   INTEGER PRIMARY KEY REFERENCES scaling_case (id),
  device    TEXT NOT NULL,  -- 'gpu', or empty: CPU cores
  executor  TEXT NOT NULL,  -- 'nccl', 'nccl-p2p', 'cuda', 'threads', or empty: 'mpi'
  precision TEXT NOT NULL   -- 'tf32', 'bf16', 'fp16', or empty: float32
);
