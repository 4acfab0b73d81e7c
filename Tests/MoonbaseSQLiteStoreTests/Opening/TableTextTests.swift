import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore

/// Columns parsed from the SQL of tables equal those that SQLite reports.
@Suite struct TableTextTests {
  private static let texts = [
    "CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, ZNAME VARCHAR, ZBORN TIMESTAMP )",
    "CREATE TABLE Z_1TAGS ( Z_1PEOPLE INTEGER, Z_2TAGS INTEGER, PRIMARY KEY (Z_1PEOPLE, Z_2TAGS) )",
    "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
    "create table t(a,b int,\n\tc)", "CREATE TABLE t (a DECIMAL(10, 2), b)", "CREATE TABLE t (\"a\" INTEGER, b)",
    "CREATE TABLE t (a INTEGER NOT NULL, b TEXT DEFAULT 'x, y', c CHECK (c > 1))", "CREATE TABLE t (a, b, UNIQUE (a))",
    "CREATE TABLE t (a TEXT COLLATE NOCASE)", "CREATE TABLE t (a DOUBLE PRECISION, b UNSIGNED BIG INT)",
    "CREATE TABLE t (a, b AS (a + 1))", "CREATE TABLE t (a INT, b TEXT, PRIMARY KEY (a)) WITHOUT ROWID",
    "CREATE TABLE t (a INT) STRICT", "CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT)",
    "CREATE TABLE t (a -- , b\n, c)", "CREATE TABLE t (a /* , */, b)", "CREATE TABLE [a b] ([c d] INT)",
    "CREATE TABLE t (a INTEGER, CONSTRAINT k PRIMARY KEY (a))", "CREATE TABLE t (key, type text, of blob, \"primary\")",
    "CREATE TABLE t (a, PRIMARY KEY (a DESC))", "CREATE TABLE t (a, PRIMARY KEY (a) ON CONFLICT REPLACE)",
    "CREATE TABLE t (größe INT, b)", "CREATE TABLE t AS SELECT 1 AS a, 'x' AS \"b c\"",
    "CREATE TABLE t (a 'TEXT', b \"INT\")",
    "CREATE TABLE t (a INTEGER PRIMARY KEY ASC, b)", "CREATE TABLE t (a REFERENCES u, b)", "CREATE TEMP TABLE x (a)",
    "CREATE TABLE IF NOT EXISTS t (a, b)", "CREATE TABLE main.t (a, b)", "CREATE TABLE t (a, a1 INTEGER(4), b$ INT)",
  ]

  @Test(arguments: texts) func theColumnsAreThoseThatSQLiteSees(_ text: String) throws {
    let folder = try TemporaryFolder()
    try Data().write(to: folder.file())
    let raw = try RawDatabase(folder.file())
    try raw.connection.executeScript("CREATE TABLE u (x INTEGER PRIMARY KEY); " + text)
    try compare(raw)
    for change in ["ADD COLUMN more INT", "ADD COLUMN other INT NOT NULL DEFAULT 3", "RENAME COLUMN more TO less"] {
      let name = try #require(
        try raw.value(
          "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid DESC LIMIT 1"
        ))
      try raw.connection.execute("ALTER TABLE \"\(name)\" \(change)")
      try compare(raw)
    }
  }

  /// The usual form of a table is parsed without asking SQLite.
  @Test func theFormOfTheFormatIsUnderstood() throws {
    for text in Self.texts.prefix(5) {
      let table = text.utf8.withContiguousStorageIfAvailable { TableText.table(UnsafeRawBufferPointer($0)) }
      #expect(table.flatMap(\.self) != nil, "\(text)")
    }
  }

  @Test(.enabled(if: RealStores.areThere, "the fixtures are not beside the checkout"), arguments: RealStores.all)
  func tablesOfRealStoresAreReadSo(_ name: String) throws {
    let folder = try TemporaryFolder()
    try compare(RawDatabase(try RealStores.copy(name, to: folder)))
  }

  private func compare(_ raw: RawDatabase) throws {
    let schema = try FileSchema(raw.connection, path: "")
    let names = try raw.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
    #expect(schema.tables.count == names.count)
    for name in names {
      let from = "FROM pragma_table_xinfo('\(name)') WHERE hidden <> 1 ORDER BY cid"
      let table = try #require(schema.tables[name.uppercased()])
      #expect(try table.columns == raw.rows("SELECT name \(from)").map { $0.uppercased() })
      // SQLite writes the names of common types in capitals.
      let types = try raw.rows("SELECT type \(from)").map { $0.uppercased() }
      #expect(table.types.map { $0.map { $0.uppercased() } } ?? types == types, "\(name)")
      #expect(try table.hasKey == raw.rows("SELECT pk \(from)").contains { $0 != "0" })
      for (place, column) in table.columns.enumerated() { #expect(table.place(column) == place) }
    }
  }
}
