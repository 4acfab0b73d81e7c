"""Does the work of a benchmark row with sqlite-utils, whose rows are dictionaries: ROW FILE COUNT. Prints the seconds it took and the answer."""

import sys
import time

from people import person, remove, schema, show

try:
    import sqlite_utils
except ImportError:
    sys.exit(69)


def insert(path, count):
    remove(path)
    schema(path)
    begin = time.perf_counter()
    sqlite_utils.Database(path)["ZPERSON"].insert_all((person(row) for row in range(count)), batch_size=1000)
    show(begin, sum(row % 100 for row in range(count)))


def fetch(path, count):
    begin = time.perf_counter()
    answer, kept = 0, 0.0
    for found in sqlite_utils.Database(path)["ZPERSON"].rows:
        answer += found["ZAGE"] + len(found["ZFIRSTNAME"].encode()) + len(found["ZLASTNAME"].encode())
        answer += len(found["ZCOLOR"])
        kept += found["ZBORN"] + found["ZHEIGHT"]
    show(begin, answer)


{"insert": insert, "fetch": fetch}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
