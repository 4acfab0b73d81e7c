#!/bin/sh
# A job of moonbase batch as a job array of Slurm. The ledger of the store knows which chunks are done.
#
#   moonbase batch run --begin job.lua --store "$STORE" > chunks.txt
#   sbatch --array=0-31 --export=ALL,TASKS=32 array.sh job.lua "$STORE"
#   moonbase batch resume job.lua --store "$STORE"      # after the array: works on what is left, and finishes the job
#
#SBATCH --requeue
# Each task takes every TASKS-th chunk. A task that is started again answers "done before" for finished chunks.
awk -v task="$SLURM_ARRAY_TASK_ID" -v tasks="$TASKS" 'NR % tasks == task' chunks.txt \
  | moonbase batch worker "$1" --store "$2"
