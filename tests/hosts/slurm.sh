# shellcheck shell=bash
# A real Slurm on the hosts of tests/hosts/lab, which sources this: its controller has a host of its own, `ctl`.
# Everything is below $lab, so it goes with the lab.

: "${lab:?}" "${hosts:?}" "${cores:?}"  # of the lab
slurm_folder=$lab/slurm

# So that tests need not wait, a silent node is down after some 12 s (300 are usual), and a job that is requeued starts
# again after 5 (120: as long as its credential is valid; less than 5 is refused).
write_slurm_conf() {
  cat << END_CONF
ClusterName=lab
SlurmctldHost=ctl(10.77.0.254)
AuthType=auth/munge
AuthInfo=socket=$slurm_folder/munge.socket,cred_expire=5
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$slurm_folder/state
SlurmdSpoolDir=$slurm_folder/spool-%n
SlurmctldPidFile=$slurm_folder/slurmctld.pid
SlurmdPidFile=$slurm_folder/slurmd-%n.pid
SlurmctldLogFile=$lab/slurmctld.log
SlurmdLogFile=$lab/slurmd-%n.log
# Without cgroups, which a container may lack.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=1,sched_interval=1
MpiDefault=pmix
JobRequeue=1
ReturnToService=2
SlurmdTimeout=6
KillWait=5
MessageTimeout=2
TCPTimeout=1
# As many cores as --cores says, whatever the machine has.
SlurmdParameters=config_overrides
NodeName=n[1-$hosts] CPUs=$cores CoresPerSocket=$cores RealMemory=2000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=60 State=UP OverSubscribe=NO
END_CONF
}

# One for all hosts: a socket is seen in every network.
start_munge() {
  dd if=/dev/urandom of="$slurm_folder/munge.key" bs=128 count=1 status=none
  chmod 600 "$slurm_folder/munge.key"
  munged --key-file="$slurm_folder/munge.key" --socket="$slurm_folder/munge.socket" --pid-file="$slurm_folder/munged.pid" \
    --log-file="$lab/munged.log" --seed-file="$slurm_folder/munge.seed" --origin=127.0.0.1 --force
}

nodes_are_idle() { [ "$(on n1 sinfo --noheader --states=idle --format=%D)" = "$hosts" ]; }

# The hosts run. On return their Slurm takes jobs, and SLURM_CONF is exported.
start_slurm() {
  local host
  mkdir -p "$slurm_folder/state"
  write_slurm_conf > "$slurm_folder/slurm.conf"
  export SLURM_CONF=$slurm_folder/slurm.conf
  start_munge
  make_network 254 ctl
  start_host ctl "exec slurmctld -D -c"
  for ((host = 1; host <= hosts; ++host)); do
    on "n$host" slurmd -N "n$host"
  done
  wait_for "Slurm" nodes_are_idle
}
