"""Works on a job of moonbase batch, or on lines of JSON, with the executors of Spark.

    spark-submit driver.py job.lua STORE [--chunk N] [--resume]
    spark-submit driver.py --lines lines.lua --model model.lua INPUT OUTPUT

STORE is an address of PostgreSQL that all executors reach. A password is in PGPASSFILE of each machine, not in the
address. The command moonbase and the scripts have the same paths on all machines.

Spark runs a task again if its executor dies or its worker fails. The chunks that the first run finished are in the
ledger of the store, and the second run answers "done before" for them. A driver that died is run again with --resume.
"""

import argparse
import json
import os
import shlex
import subprocess
from operator import add

from pyspark.sql import SparkSession


def pipe(lines, command):
    # Spark gives a command no environment. A password does not travel with the tasks.
    names = [name for name in os.environ if name in ("PATH", "HOME") or name.startswith("PG")]
    env = {name: os.environ[name] for name in names if name != "PGPASSWORD"}
    # Without checkCode Spark takes the output of a failed command for whole.
    return lines.pipe(shlex.join(command), env, checkCode=True)


def work(spark, options):
    batch = [options.moonbase, "batch"]
    place = [options.script, "--store", options.first]
    first = ["status", options.script, "--store", options.first, "--open"]
    if not options.resume:
        first = ["run", "--begin", *place, "--chunk", str(options.chunk)]
    chunks = subprocess.run(batch + first, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    if chunks:
        # A task of several chunks opens the store once.
        tasks = spark.parallelize(chunks, min(len(chunks), 4 * spark.defaultParallelism))
        answers = pipe(tasks, batch + ["worker", *place]).map(json.loads)
        for status, count in sorted(answers.map(lambda a: (a["status"], 1)).reduceByKey(add).collect()):
            print(f"{status}: {count}")
    # Works on what is left, and finishes the job.
    subprocess.run(batch + ["resume", *place], check=True)


def transform(spark, options):
    command = [options.moonbase, "run", "--model", options.model, options.script]
    pipe(spark.textFile(options.first), command).saveAsTextFile(options.output)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("script")
    parser.add_argument("first", metavar="STORE|INPUT")
    parser.add_argument("output", nargs="?")
    parser.add_argument("--lines", action="store_true", help="the script transforms lines")
    parser.add_argument("--model", help="the model of the lines")
    parser.add_argument("--chunk", type=int, default=1000)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--moonbase", default="moonbase")
    options = parser.parse_args()
    if options.lines != (options.output is not None) or options.lines != (options.model is not None):
        parser.error("--lines takes a model, an input and an output; a job takes a store")
    with SparkSession.builder.appName(options.script).getOrCreate() as session:
        (transform if options.lines else work)(session.sparkContext, options)


if __name__ == "__main__":
    main()
