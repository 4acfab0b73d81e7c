import MoonbasePlatform
import MoonbaseSQLite

/// Reads the rows of a database query: numbers, texts and bytes as stored.
///
/// The number of a row serves as its line and its position.
///
/// The reader steps a statement and gives the stored values as fields; numbers become their digits.
/// Key columns are given as texts, as `KeyLookup` expects them.
final class TableReader: RecordReader {
  /// The names of the columns in the import.
  let names: [String]
  /// The number of the current row, from 1.
  private(set) var line: Int64 = 0
  /// The number of the next row.
  var endLine: Int64 { line + 1 }
  /// The number of rows before the current one.
  var recordStart: Int64 { line - 1 }
  /// The number of rows up to the current one, which an import records as its position.
  var recordEnd: Int64 { line }
  /// Empty, because a row has no bytes of its own.
  let record = UnsafeRawBufferPointer(start: nil, count: 0)

  /// The database, which translates errors.
  private let database: OpenDatabase
  /// The running query.
  private let statement: Statement
  /// The key columns, whose values are converted to text.
  private let keys: Set<Int>
  /// Whether the query has ended.
  private var isOver = false
  /// The columns of the current row whose text is not UTF-8.
  private var wrongTexts: [Int] = []
  /// The columns with text that is not UTF-8, whose bytes are kept.
  private(set) var columnsOfWrongTexts: Set<Int> = []
  /// The digits of the row's numbers, with the range of each.
  private var digits: [UInt8] = []
  /// The range in `digits` of each column's number.
  private var places: [Range<Int>]

  /// Reads the columns of `sql` under these names.
  ///
  /// Prepares the query. Throws an error that names the file.
  init(_ sql: String, names: [String], keys: Set<Int> = [], in database: OpenDatabase) throws {
    (self.names, self.keys, self.database) = (names, keys, database)
    places = [Range<Int>](repeating: 0..<0, count: names.count)
    statement = try database.understanding { try $0.statement(sql) }
  }

  deinit { statement.reset() }

  /// Steps to the next row.
  func next() throws -> Bool {
    // A further step would restart the statement.
    if isOver { return false }
    line += 1
    guard try database.understanding({ _ in try statement.step() }) else {
      isOver = true
      return false
    }
    digits.removeAll(keepingCapacity: true)
    wrongTexts.removeAll(keepingCapacity: true)
    for column in names.indices {
      let number: String
      switch statement.storage(Int32(column)) {
      case .integer: number = String(statement.integer(Int32(column)))
      case .real: number = "\(statement.double(Int32(column)))"
      case .text where !keys.contains(column):
        if statement.storedTextBytes(Int32(column))?.isUTF8 == false { wrongTexts.append(column) }
        continue
      case .blob where keys.contains(column): number = statement.data(Int32(column)).base64EncodedString()
      default: continue
      }
      let start = digits.count
      digits.append(contentsOf: number.utf8)
      places[column] = start..<digits.count
    }
    if !wrongTexts.isEmpty { columnsOfWrongTexts.formUnion(wrongTexts) }
    return true
  }

  /// The field of a column: `binary` for bytes and for texts that are not UTF-8.
  func field(_ column: Int) -> InputField {
    switch statement.storage(Int32(column)) {
    case .null: .none
    case .text:
      InputField(
        kind: wrongTexts.contains(column) ? .binary : .text, bytes: statement.storedTextBytes(Int32(column)) ?? record)
    case .blob where !keys.contains(column):
      InputField(kind: .binary, bytes: statement.storedBytes(Int32(column)) ?? record)
    case .integer, .real, .blob:
      digits.withUnsafeBytes {
        InputField(
          kind: keys.contains(column) ? .text : .number, bytes: UnsafeRawBufferPointer(rebasing: $0[places[column]]))
      }
    }
  }

  /// Skips rows by reading them. The position is a number of rows.
  func skip(to offset: Int64, line: Int64) throws {
    while self.line < offset { guard try next() else { return } }
  }
}
