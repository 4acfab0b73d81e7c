import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// `moonbase import --infer` of databases: tables, keys and rows become entities, relationships and objects.
@Suite struct InferredDatabaseTests {
  private func bench(_ sql: String) throws -> Workbench {
    let bench = try Workbench()
    try bench.connection(to: "plain.db").executeScript(sql)
    return bench
  }

  private func imported(_ bench: Workbench, status: Int32 = 0) throws -> ChildProcess.Outcome {
    let before = try bench.bytes(of: "plain.db")
    let outcome = try bench.moonbase("import", "plain.db", "--infer", "--store", "s.sqlite")
    #expect(outcome.status == status, "\(outcome)")
    #expect(try bench.bytes(of: "plain.db") == before)
    return outcome
  }

  private func rows(_ bench: Workbench, _ arguments: String...) throws -> String {
    let outcome = try bench.moonbase(["fetch"] + arguments + ["--store", "s.sqlite", "--format", "csv"])
    #expect(outcome.status == 0, "\(outcome)")
    return outcome.output
  }

  private func model(_ bench: Workbench) throws -> String {
    String(decoding: try bench.bytes(of: "s.lua"), as: UTF8.self)
  }

  @Test func infinityAmongOtherKindsStaysANumber() throws {
    let bench = try bench("CREATE TABLE t (x); INSERT INTO t VALUES (9e999), (-9e999), (x'01'), ('inf'), (1.5)")
    _ = try imported(bench)
    let code = """
      for o in moonbase.context:fetch("T"):each() do print(math.type(o.x), o.x == math.huge, o.x == -math.huge, o.x == "inf") end
      """
    let outcome = try bench.moonbase("run", "--store", "s.sqlite", "-e", code)
    #expect(
      outcome.output == """
        float\ttrue\tfalse\tfalse
        float\tfalse\ttrue\tfalse
        nil\tfalse\tfalse\tfalse
        nil\tfalse\tfalse\ttrue
        float\tfalse\tfalse\tfalse

        """, "\(outcome)")
  }

  @Test func textsThatAreNoUTF8KeepTheirBytes() throws {
    let bench = try bench(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT UNIQUE, c TEXT);
      INSERT INTO t VALUES (1, 'ok', CAST(x'ff01' AS TEXT), CAST(x'fe' AS TEXT)),
        (2, CAST(x'4bf66c6e' AS TEXT), x'ff01', CAST(x'4bf66c6e' AS TEXT)), (3, NULL, 'x', NULL);
      """)
    let outcome = try imported(bench)
    #expect(outcome.complaints.contains("3 objects, 0 rejected"), "\(outcome)")
    let model = try model(bench)
    #expect(
      model.contains("texts that are no UTF-8, which are kept as their bytes") && model.contains("c = \"binary\"")
        && model.contains("a = \"transformable\""), "\(model)")
    #expect(
      try rows(bench, "T", "--sort", "id", "--columns", "a,b,c")
        == "a,b,c\nok,/wE=,/g==\nS/Zsbg==,/wE=,S/Zsbg==\n,x,\n")
  }

  /// Digits after the decimal point in the type's scale make the column a decimal.
  @Test(arguments: ["NUMERIC(10,2)", "DECIMAL(10, 2)"]) func numbersWithAScaleAreDecimals(_ type: String) throws {
    let bench = try bench("CREATE TABLE t (x \(type)); INSERT INTO t VALUES (1.5), (2.25), (3)")
    _ = try imported(bench)
    let model = try model(bench)
    #expect(model.contains("x = \"decimal\""), "\(model)")
  }

  @Test func tablesAndKeysBecomeEntitiesAndRelationships() throws {
    let bench = try bench(
      """
      CREATE TABLE departments (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
      CREATE TABLE person (id INTEGER PRIMARY KEY, "First Name" TEXT NOT NULL, active BOOLEAN, photo BLOB,
        department_id INTEGER NOT NULL REFERENCES departments ON DELETE CASCADE, boss_id INTEGER REFERENCES person(id));
      CREATE TABLE tags (name TEXT PRIMARY KEY COLLATE NOCASE) WITHOUT ROWID;
      CREATE TABLE person_tags (person_id INTEGER REFERENCES person(id), tag TEXT REFERENCES tags, PRIMARY KEY (person_id, tag));
      CREATE VIEW everybody AS SELECT * FROM person;
      CREATE VIRTUAL TABLE words USING fts5(word);
      INSERT INTO departments VALUES (7, 'Sales'), (9, 'IT');
      INSERT INTO person VALUES (1, 'Ann', 1, x'00ff', 7, 3), (2, 'Bob', 0, NULL, 9, 1), (3, 'Cy', NULL, NULL, 7, NULL);
      INSERT INTO tags VALUES ('red'), ('blue');
      INSERT INTO person_tags VALUES (1, 'red'), (1, 'blue'), (3, 'blue');
      """)
    let outcome = try imported(bench)
    #expect(outcome.complaints.contains("7 objects, 4 linked later, 0 rejected"), "\(outcome)")
    #expect(try bench.names() == ["plain.db", "s.lua", "s.sqlite"])
    #expect(
      try rows(
        bench, "Person", "--sort", "id", "--columns",
        "id,firstName,active,photo,department.name,boss.firstName,tags.@count")
          == """
          id,firstName,active,photo,department.name,boss.firstName,tags.@count
          1,Ann,true,AP8=,Sales,Cy,2
          2,Bob,false,,IT,Ann,0
          3,Cy,,,Sales,,1

          """)
    #expect(
      try rows(bench, "Tags", "--sort", "name", "--columns", "name,person.@count")
        == "name,person.@count\nblue,2\nred,1\n")
    let model = try model(bench)
    for line in [
      "-- Passed over, for they have no rows of their own: view everybody, virtual words",
      "-- The table person_tags is a relationship between Person and Tags.", "user_info = { column = \"First Name\" },",
      "-- foreign key department_id to departments(id), ON DELETE CASCADE", "delete = \"cascade\"",
      "constraints = { { \"id\" }, { \"name\" } },",
    ] {
      #expect(model.contains(line), "\(line)\n\(model)")
    }
    #expect(try bench.moonbase("model", "diff", "s.lua", "s.sqlite").status == 0)
    #expect(try bench.moonbase("doctor", "s.sqlite").status == 0)
  }

  @Test func keysOfSeveralColumnsCirclesAndLostDestinations() throws {
    let bench = try bench(
      """
      CREATE TABLE "order" (year INTEGER, number TEXT, total REAL, PRIMARY KEY (year, number));
      CREATE TABLE item (year INTEGER NOT NULL, number TEXT NOT NULL, line INTEGER NOT NULL, what TEXT,
        PRIMARY KEY (year, number, line), FOREIGN KEY (year, number) REFERENCES "order" ON DELETE RESTRICT);
      CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER NOT NULL REFERENCES b(id));
      CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id), lost INTEGER REFERENCES a(id), x INTEGER REFERENCES nowhere(id));
      INSERT INTO "order" VALUES (2000, 'x', 1.5), (2001, 'x', 2.5), (2001, 'it''s "y"', NULL);
      INSERT INTO item VALUES (2000, 'x', 1, 'p'), (2001, 'x', 1, 'q'), (2001, 'it''s "y"', 1, 'r'), (2001, 'it''s "y"', 2, 's');
      INSERT INTO a VALUES (1, 2), (2, 1);
      INSERT INTO b VALUES (1, 1, 99, 5), (2, 2, 2, 6);
      """)
    _ = try imported(bench)
    #expect(
      try rows(bench, "Item", "--sort", "what", "--columns", "what,order.year,order.number,order.total") == """
        what,order.year,order.number,order.total
        p,2000,x,1.5
        q,2001,x,2.5
        r,2001,"it's ""y""\",
        s,2001,"it's ""y""\",

        """)
    #expect(try rows(bench, "A", "--sort", "id", "--columns", "id,b.id") == "id,b.id\n1,2\n2,1\n")
    #expect(
      try rows(bench, "B", "--sort", "id", "--columns", "id,a.id,lost,lost2.id,x")
        == "id,a.id,lost,lost2.id,x\n1,1,99,,5\n2,2,2,2,6\n")
    let model = try model(bench)
    #expect(model.contains("1 rows lead to none: what they say is in the attribute"), "\(model)")
    #expect(model.contains("foreign key x to nowhere(id) is no relationship: there is no such table"), "\(model)")
  }

  @Test func valuesThatAreNotOfTheDeclaredTypeAreKept() throws {
    let bench = try bench(
      """
      CREATE TABLE t (n INTEGER, r REAL, b BLOB, d DATE, big INTEGER, money DECIMAL(10, 2), code INTEGER UNIQUE, nix);
      INSERT INTO t VALUES (1, 1.5, x'00', '2001-02-03', 9223372036854775807, 5, 1, NULL);
      INSERT INTO t VALUES ('007x', 9e999, 'text', '1999-12-31', -9223372036854775808, 2.25, 'one', NULL);
      INSERT INTO t VALUES (2.5, -2, 17, NULL, 0, NULL, NULL, NULL);
      INSERT INTO t VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
      """)
    _ = try imported(bench)
    #expect(
      try rows(bench, "T", "--columns", "n,r,d,big,money,code", "--sort", "big") == """
        n,r,d,big,money,code
        ,,,,,
        007x,inf,1999-12-31T00:00:00.000Z,-9223372036854775808,2.25,one
        2.5,-2.0,,0,,
        1,1.5,2001-02-03T00:00:00.000Z,9223372036854775807,5,1

        """)
    #expect(try model(bench).contains("b = \"transformable\""))
    let code = """
      local shown = {}
      for object in moonbase.context:fetch("T"):sort("big"):each() do
        shown[#shown + 1] = object.b and (math.type(object.b) or type(object.b)) .. ":" .. tostring(object.b) or "nil"
      end
      print(table.concat(shown, " "))
      """
    let outcome = try bench.moonbase("run", "--store", "s.sqlite", "-e", code)
    #expect(outcome.output.contains("text") && outcome.output.contains("integer:17"), "\(outcome)")
  }

  /// A primary key implies required values, but SQLite permits null values in some tables.
  @Test func columnsOfAPrimaryKeyAreRequiredWhereNoRowLacksOne() throws {
    let bench = try bench(
      """
      CREATE TABLE a (x TEXT, y INTEGER, z TEXT, PRIMARY KEY (x, y));
      CREATE TABLE b (x TEXT PRIMARY KEY);
      INSERT INTO a VALUES ('1', 2, NULL), ('2', 2, NULL);
      INSERT INTO b VALUES (NULL), ('1');
      """)
    _ = try imported(bench)
    let model = try model(bench)
    #expect(
      model.contains("x = { \"string\", optional = false }")
        && model.contains("y = { \"integer64\", optional = false }"), "\(model)")
    #expect(model.components(separatedBy: "optional = false").count == 3, "\(model)")
  }

  @Test func storesAndOthersAreRefused() throws {
    let bench = try bench("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    _ = try imported(bench)
    let store = try bench.moonbase("import", "s.sqlite", "--infer", "--store", "x.sqlite")
    #expect(store.status == 1 && store.complaints.contains("s.sqlite is a store, which has a model"), "\(store)")
    let again = try bench.moonbase("import", "plain.db", "--infer", "--store", "s.sqlite")
    #expect(again.status == 2 && again.complaints.contains("s.sqlite is there, and has objects"), "\(again)")
    let model = try bench.write("return {}", to: "y.lua")
    let file = try bench.moonbase("import", "plain.db", "--infer", "--store", "y.sqlite")
    #expect(file.status == 2 && file.complaints.contains("y.lua is there"), "\(file)")
    #expect(try String(contentsOf: model, encoding: .utf8) == "return {}")
    let entity = try bench.moonbase("import", "T", "plain.db", "--infer", "--store", "x.sqlite")
    #expect(entity.status == 2 && entity.complaints.contains("leave 'T' out"), "\(entity)")
    try bench.connection(to: "empty.db").executeScript("CREATE TABLE t (a); DROP TABLE t")
    let empty = try bench.moonbase("import", "empty.db", "--infer", "--store", "x.sqlite")
    #expect(empty.status == 1 && empty.complaints.contains("empty.db has no table"), "\(empty)")
    #expect(try !bench.names().contains("x.sqlite"))
    let printed = try bench.moonbase("import", "plain.db", "--infer", "--dry-run")
    #expect(printed.status == 0 && printed.output.contains("-- table t: 1 row"), "\(printed)")
  }

  @Test func oddNamesAreQuotedAndKept() throws {
    let bench = try bench(
      """
      CREATE TABLE "we""ird [t]; --" ("select" INTEGER PRIMARY KEY, " " TEXT, "a.b" TEXT, "class" TEXT, "A B" TEXT);
      CREATE TABLE "We ird T" ("x" INTEGER REFERENCES "we""ird [t]; --"("select"), "rowid" TEXT, "line
      end" TEXT);
      CREATE TABLE "1" ("entity" TEXT);
      INSERT INTO "we""ird [t]; --" VALUES (1, 'blank', 'dot', 'class', 'capital');
      INSERT INTO "We ird T" VALUES (1, 'r', 'l');
      INSERT INTO "1" VALUES ('e');
      """)
    _ = try imported(bench)
    #expect(
      try rows(bench, "WeIrdT2", "--columns", "select,column,aB,classValue,aB2")
        == "select,column,aB,classValue,aB2\n1,blank,dot,class,capital\n")
    #expect(try rows(bench, "WeIrdT", "--columns", "x.aB,rowid,lineEnd") == "x.aB,rowid,lineEnd\ndot,r,l\n")
    #expect(try rows(bench, "Table1", "--columns", "entityValue") == "entityValue\ne\n")
  }
}
