import MoonbasePlatform
import MoonbaseSQLite
import Testing

extension Workbench {
  /// Checks the scans of orders in external files: 150,000 bytes, each the order's number. Returns the number of scans.
  func intactScans(of raw: Connection, where condition: String, _ what: String) throws -> Int {
    let statement = try raw.statement(
      "SELECT ZN, CAST(SUBSTR(ZSCAN, 2, 36) AS TEXT) FROM ZORDER WHERE \(condition) AND LENGTH(ZSCAN) = 38")
    defer { statement.reset() }
    var count = 0
    while try statement.step() {
      let bytes = try bytes(of: ".s_SUPPORT/_EXTERNAL_DATA/\(statement.text(1))")
      let byte = UInt8(truncatingIfNeeded: statement.integer(0))
      #expect(bytes.count == 150_000 && bytes.first == byte && bytes.last == byte, "\(what)")
      count += 1
    }
    return count
  }
}
