#!/bin/sh
#SBATCH --job-name=hermes-batch
#SBATCH --array=0-7
#SBATCH --cpus-per-task=4
#SBATCH --requeue
# Runs a dataset as eight tasks; one that is requeued goes on where it was.
#
#   OPENAI_BASE_URL=http://model.example/v1 sbatch slurm.sh
#   hermes-agent merge --out all out/*
exec hermes-agent batch --dataset prompts.jsonl --workers 4 \
	--out "out/$SLURM_ARRAY_TASK_ID" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"
