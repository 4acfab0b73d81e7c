"""The table of the benchmarks, as the yardsticks in C make it, and its rows."""

import os
import sqlite3
import struct
import time

COLUMNS = [
    ("Z_PK", "INTEGER"), ("Z_ENT", "INTEGER"), ("Z_OPT", "INTEGER"), ("ZAGE", "INTEGER"), ("ZBORN", "TIMESTAMP"),
    ("ZHEIGHT", "FLOAT"), ("ZFIRSTNAME", "VARCHAR"), ("ZLASTNAME", "VARCHAR"), ("ZCOLOR", "BLOB"),
]


def person(row):
    """The columns of a row."""
    return {
        "Z_PK": row + 1, "Z_ENT": 1, "Z_OPT": 1, "ZAGE": row % 100, "ZBORN": row * 60.0, "ZHEIGHT": 1.5 + (row % 50) / 100,
        "ZFIRSTNAME": f"First{row % 1000}", "ZLASTNAME": f"Last{row}",
        "ZCOLOR": struct.pack("4d", row % 256 / 255, 0.5, 0.25, 1),
    }


def remove(path):
    """Removes a database with what belongs to it."""
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.remove(path + suffix)


def schema(path):
    """Makes the empty table in a file with a write-ahead log."""
    columns = ", ".join(f"{name} {kind}{' PRIMARY KEY' if name == 'Z_PK' else ''}" for name, kind in COLUMNS)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute(f"CREATE TABLE ZPERSON ({columns})")
    database.close()


def show(begin, answer):
    """Says what `Peer` reads."""
    print(time.perf_counter() - begin, answer)
