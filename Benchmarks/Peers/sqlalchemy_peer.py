"""Does the work of a benchmark row with SQLAlchemy's objects: ROW FILE COUNT. Prints the seconds it took and the answer."""

import sys
import time

from people import COLUMNS, person, remove, schema, show

try:
    from sqlalchemy import Column, Float, Integer, LargeBinary, String, create_engine
    from sqlalchemy.orm import Session, declarative_base
except ImportError:
    sys.exit(69)

TYPES = {"INTEGER": Integer, "TIMESTAMP": Float, "FLOAT": Float, "VARCHAR": String, "BLOB": LargeBinary}
Base = declarative_base()
Person = type(
    "Person",
    (Base,),
    {"__tablename__": "ZPERSON"}
    | {name: Column(TYPES[kind], primary_key=name == "Z_PK") for name, kind in COLUMNS},
)


def insert(path, count):
    remove(path)
    schema(path)
    begin = time.perf_counter()
    with Session(create_engine(f"sqlite:///{path}")) as session:
        session.add_all(Person(**person(row)) for row in range(count))
        session.commit()
    show(begin, sum(row % 100 for row in range(count)))


def fetch(path, count):
    begin = time.perf_counter()
    answer, kept = 0, 0.0
    with Session(create_engine(f"sqlite:///{path}")) as session:
        for found in session.query(Person).yield_per(1000):
            answer += found.ZAGE + len(found.ZFIRSTNAME.encode()) + len(found.ZLASTNAME.encode()) + len(found.ZCOLOR)
            kept += found.ZBORN + found.ZHEIGHT
    show(begin, answer)


{"insert": insert, "fetch": fetch}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
