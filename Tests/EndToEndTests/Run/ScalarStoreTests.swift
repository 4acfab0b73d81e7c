import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Every scalar type of a Lua model: written by a script, read by `sqlite3` and by another run.
@Suite struct ScalarStoreTests {
  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(
      """
      return { entities = { Sample = { attributes = {
        small = "integer16", middle = "integer32", large = "integer64", exact = "decimal", real = "double",
        short = "float", text = "string", flag = "boolean", moment = "date", bytes = "binary", unique = "uuid",
        place = "uri",
      } } } }
      """, to: "m.lua")
  }

  /// The attribute, the Lua expression of its value, and the output of `sqlite3`: storage class and literal.
  static let samples = [
    ("small", "-32768", "integer|-32768"), ("middle", "2147483647", "integer|2147483647"),
    ("large", "math.mininteger", "integer|-9223372036854775808"), ("exact", "moonbase.decimal('0.10')", "real|0.1"),
    ("real", "1e308", "real|1.0e+308"), ("short", "0.5", "real|0.5"), ("text", "'Zoë \\u{1F680}'", "text|'Zoë 🚀'"),
    ("flag", "true", "integer|1"), ("moment", "moonbase.date.parse('2001-01-02T00:00:00.250Z')", "real|86400.25"),
    ("bytes", "'\\0\\255'", "blob|X'00FF'"),
    (
      "unique", "moonbase.uuid('00112233-4455-6677-8899-AABBCCDDEEFF')",
      "blob|X'00112233445566778899AABBCCDDEEFF'"
    ), ("place", "moonbase.uri('https://example.org/a')", "text|'https://example.org/a'"),
  ]

  private func insert(_ values: String) throws {
    let code = "moonbase.context:insert('Sample', { \(values) }) assert(moonbase.context:save())"
    let run = try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", code)
    #expect(run.status == 0 && run.complaintsBesideNewStores.isEmpty, "\(run)")
  }

  @Test func everyTypeIsStoredAsCoreDataStoresItAndComesBack() throws {
    try insert(Self.samples.map { "\($0.0) = \($0.1)" }.joined(separator: ", "))
    for (name, lua, stored) in Self.samples {
      let column = "Z\(name.uppercased())"
      let seen = try bench.program("sqlite3", "s.sqlite", "SELECT typeof(\(column)), quote(\(column)) FROM ZSAMPLE")
      #expect(seen.output == stored + "\n", "\(name)")
      let code = "local s = moonbase.context:fetch('Sample'):first() print(s.\(name) == \(lua), s.\(name))"
      let back = try bench.moonbase("run", "--store", "s.sqlite", "-e", code)
      #expect(back.output.hasPrefix("true\t"), "\(name): \(back.output)\(back.complaints)")
    }
  }

  @Test func whatHasNoValueIsNull() throws {
    try insert("")
    for (name, _, _) in Self.samples {
      let seen = try bench.program("sqlite3", "s.sqlite", "SELECT typeof(Z\(name.uppercased())) FROM ZSAMPLE")
      #expect(seen.output == "null\n", "\(name)")
    }
  }

  @Test func theTablesAreThoseOfCoreData() throws {
    try insert("")
    let columns = try bench.program(
      "sqlite3", "s.sqlite", "SELECT name || ' ' || type FROM pragma_table_info('ZSAMPLE')")
    #expect(
      Set(columns.output.split(separator: "\n")) == [
        "Z_PK INTEGER", "Z_ENT INTEGER", "Z_OPT INTEGER", "ZSMALL INTEGER", "ZMIDDLE INTEGER", "ZLARGE INTEGER",
        "ZEXACT DECIMAL", "ZREAL FLOAT", "ZSHORT FLOAT", "ZTEXT VARCHAR", "ZFLAG INTEGER", "ZMOMENT TIMESTAMP",
        "ZBYTES BLOB", "ZUNIQUE BLOB", "ZPLACE VARCHAR",
      ])
    let keys = try bench.program("sqlite3", "s.sqlite", "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY")
    #expect(keys.output == "1|Sample|0|1\n")
    let metadata = try bench.program(
      "sqlite3", "s.sqlite", "SELECT Z_VERSION, length(Z_UUID), hex(substr(Z_PLIST, 1, 8)) FROM Z_METADATA")
    #expect(metadata.output == "1|36|62706C6973743030\n")
  }
}
