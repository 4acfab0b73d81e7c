import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// Random databases: every value and every reference survives the import.
@Suite struct RandomDatabaseTests {
  @Test(arguments: 0..<UInt64(Repetition.databaseSeeds.count))
  func everythingOfADatabaseComesOutAgain(_ seed: UInt64) throws {
    var random = SplitMix(seed)
    let bench = try Workbench()
    let raw = try bench.connection(to: "plain.db")
    let tables = 2 + random.next(4)
    let types = ["INTEGER", "TEXT", "REAL", "NUMERIC", "", "DATE", "DECIMAL(8,2)"]
    var columns: [[Int]] = []
    for table in 0..<tables {
      columns.append((0..<(1 + random.next(4))).map { _ in random.next(types.count) })
      let attributes = columns[table].indices.map { "c\($0) \(types[columns[table][$0]])" }.joined(separator: ", ")
      // References to any table, including later tables and the own one, without a check.
      let target = random.next(tables)
      try raw.execute(
        "CREATE TABLE t\(table) (id INTEGER PRIMARY KEY, \(attributes), x INTEGER REFERENCES t\(target)(id))")
    }
    try raw.transaction {
      for table in 0..<tables {
        let kinds = columns[table].map { _ in random.next(6) }
        for row in 1...(1 + random.next(120)) {
          let values = kinds.map { kind in
            random.next(12) == 0 ? "NULL" : Self.value(random.next(60) == 0 ? random.next(6) : kind, &random)
          }
          // Half of the tables have dangling references.
          let target = random.next(4) == 0 ? "NULL" : "\(table % 2 == 0 ? random.next(1) + 1 : random.next(150))"
          try raw.execute("INSERT INTO t\(table) VALUES (\(row), \(values.joined(separator: ", ")), \(target))")
        }
      }
    }
    let outcome = try bench.moonbase("import", "plain.db", "--infer", "--store", "s.sqlite")
    #expect(outcome.status == 0 && outcome.complaints.contains(" 0 rejected"), "\(seed): \(outcome)")
    #expect(try bench.moonbase("model", "diff", "s.lua", "s.sqlite").status == 0)
    #expect(try bench.moonbase("doctor", "s.sqlite").status == 0)
    for table in 0..<tables { try compare(table, columns[table].count, raw, bench, seed) }
  }

  private static func value(_ kind: Int, _ random: inout SplitMix) -> String {
    switch kind {
    case 0: "\(random.next(1000) - 500)"
    case 1: "\(random.next(1000)).\(random.next(100))"
    case 2: "'text \(random.next(9)), ''quoted'''"
    case 3: "'\(random.next(2) == 0 ? "0" : "")\(random.next(100))'"
    case 4: "\(Int64.max - Int64(random.next(5)))"
    default: "'a\(random.next(4))'"
    }
  }

  private func compare(_ table: Int, _ count: Int, _ raw: Connection, _ bench: Workbench, _ seed: UInt64) throws {
    let model = String(decoding: try bench.bytes(of: "s.lua"), as: UTF8.self)
    let entity = try #require(
      model.split(separator: "    -- table t\(table):").last?.split(separator: "-- table").first)
    let hasColumn = entity.prefix(upTo: entity.firstRange(of: "relationships")?.lowerBound ?? entity.endIndex).contains(
      "        x = ")
    let hasLink = entity.contains("-- foreign key x to")
    #expect(hasLink)
    let link = hasColumn ? "x2" : "x"
    let list = ["id"] + (0..<count).map { "c\($0)" } + (hasColumn ? ["x"] : []) + [link + ".id"]
    let found = try bench.moonbase(
      [
        "fetch", "T\(table)", "--store", "s.sqlite", "--format", "csv", "--sort", "id", "--columns",
        list.joined(separator: ","),
      ])
    #expect(found.status == 0, "\(seed): \(found)")
    let target = try #require(try raw.text("SELECT \"table\" FROM pragma_foreign_key_list('t\(table)')"))
    let parts = ["id"] + (0..<count).map { "c\($0)" } + (hasColumn ? ["x"] : [])
    let statement = try raw.statement(
      "SELECT \(parts.joined(separator: ", ")), (SELECT p.id FROM \(target) p WHERE p.id = t.x) FROM t\(table) t ORDER BY id"
    )
    defer { statement.reset() }
    var lines = found.output.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
    while try statement.step() {
      guard let line = lines.popFirst().map(String.init) else {
        Issue.record("\(seed): t\(table) has too few rows")
        return
      }
      let fields = line.matches(of: #/(?:^|,)("(?:[^"]|"")*"|[^,]*)/#).map { String($0.output.1) }
      try #require(fields.count == list.count, "\(seed): \(line)")
      for (column, field) in fields.enumerated() {
        let index = Int32(column)
        let wanted = statement.storage(index) == .null ? "" : statement.text(index)
        let isQuoted = field.hasPrefix("\"")
        let shown = isQuoted ? String(field.dropFirst().dropLast()).replacing("\"\"", with: "\"") : field
        let isSame =
          switch statement.storage(index) {
          case .real: Double(shown) == statement.double(index)
          case .integer: Decimal(string: shown) == Decimal(string: wanted)
          default: shown == wanted
          }
        #expect(isSame, "\(seed), t\(table), \(list[column]): \(shown) for \(wanted)")
      }
    }
    #expect(lines.joined() == "")
  }
}
