import MoonbaseBatch
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Writes rows as JSON from their cells. If the stored form is the output form, no value is created.
///
/// Nothing is lost. Dates are the stored seconds since 2001. Numbers that JSON does not have are the texts `nan`, `inf`
/// and `-inf`.
///
/// `moonbase export --all` uses it. Its output can be read back without a difference.
struct CellJSON {
  /// The output that has not been written to the destination yet.
  var bytes: [UInt8] = []
  /// Writes the URIs of objects, with a cache of their prefixes.
  private var uris = ObjectURIs()

  /// Appends the URI of an object in quotes.
  ///
  /// - Parameter id: The ID of a saved object.
  mutating func append(uri id: ManagedObjectID) { uris.append(id, to: &bytes) }

  /// Appends a cell of a row. Throws the errors of reading the cell, and throws `damaged` for a text that is not valid
  /// UTF-8.
  ///
  /// - Parameters:
  ///   - cell: The stored form of a value.
  ///   - damaged: Returns the error for a value that cannot be read.
  mutating func append(_ cell: Snapshot.Cell, damaged: () -> GraphError) throws {
    switch cell {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let flag): bytes.append(contentsOf: flag ? "true".utf8 : "false".utf8)
    case .int(let number): bytes.append(decimal: number)
    case .double(let number), .date(let number): append(number)
    case .text(let text):
      guard text.isUTF8 else { throw damaged() }
      bytes.append(quotedUTF8: text)
    case .data(let data): append(Data(data))
    case .uuid(let uuid): bytes.append(quoted: uuid.uuidString)
    case .reference(let id): append(uri: id)
    case .value(let value): try append(value, damaged: damaged)
    }
  }

  /// Appends a value whose cell is not plain. Large data is loaded now.
  private mutating func append(_ value: Value, damaged: () -> GraphError) throws {
    switch value {
    case .object(let token):
      guard let load = token.load else { throw damaged() }
      append(try load())
    case .data(let data): append(data)
    case .date(let date): append(date.timeIntervalSinceReferenceDate)
    case .double(let number): append(number)
    case .objectID(let id): append(uri: id)
    case .null, .bool, .int, .string, .uuid, .uri, .decimal:
      var losses = OutputLosses()
      bytes.append(json: value, dates: .reference, column: "", losses: &losses)
    case .map(let map):
      bytes.append(UInt8(ascii: "{"))
      for (index, entry) in map.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { bytes.append(contentsOf: ", ".utf8) }
        bytes.append(quoted: entry.key)
        bytes.append(contentsOf: ": ".utf8)
        try append(entry.value, damaged: damaged)
      }
      bytes.append(UInt8(ascii: "}"))
    case .list: throw damaged()
    }
  }

  /// Appends a number with the fewest digits that give the same number.
  private mutating func append(_ number: Double) {
    guard number.isFinite else { return bytes.append(quoted: number.description) }
    bytes.append(contentsOf: number.description.utf8)
  }

  /// Appends data in Base64 with quotes.
  private mutating func append(_ data: Data) {
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: data.base64EncodedData())
    bytes.append(UInt8(ascii: "\""))
  }
}
