/// A table for a person. The first rows give the columns their widths; what is wider in a later one moves what follows it.
struct TableLines {
  private static let rowsThatCount = 100
  /// Of a longer text the beginning is shown; of an ID all, for a part of it names nothing.
  private static let greatestWidth = 60

  private let columns: [String]
  private var widths: [Int]
  private var isRight: [Bool]
  /// The rows before the widths are known; nil afterwards.
  private var first: [[String]]? = []

  init(columns: [String]) {
    (self.columns, widths) = (columns.map(Self.shown), columns.map { DisplayWidth.of(Self.shown($0)) })
    isRight = columns.map { _ in false }
  }

  mutating func add(_ cells: [String], isNumber: [Bool], isID: [Bool], to bytes: inout [UInt8]) {
    let row = zip(cells, isID).map { $1 ? $0 : Self.shown($0) }
    guard first != nil else { return append(row, to: &bytes) }
    for (index, cell) in row.enumerated() {
      widths[index] = max(widths[index], DisplayWidth.of(cell))
      if isNumber[index] { isRight[index] = true }
    }
    first?.append(row)
    if first?.count == Self.rowsThatCount { begin(&bytes) }
  }

  mutating func finish(_ bytes: inout [UInt8]) {
    if first != nil { begin(&bytes) }
  }

  private mutating func begin(_ bytes: inout [UInt8]) {
    append(columns, to: &bytes)
    append(widths.map { String(repeating: "-", count: $0) }, to: &bytes)
    for row in first ?? [] { append(row, to: &bytes) }
    first = nil
  }

  private func append(_ row: [String], to bytes: inout [UInt8]) {
    var line = ""
    for (index, cell) in row.enumerated() {
      let space = String(repeating: " ", count: max(0, widths[index] - DisplayWidth.of(cell)))
      line += (index > 0 ? "  " : "") + (isRight[index] ? space + cell : cell + space)
    }
    while line.last == " " { line.removeLast() }
    bytes.append(contentsOf: (line + "\n").utf8)
  }

  /// One line of plain characters: what would move the cursor of a terminal, or speak to it, is written out.
  private static func shown(_ text: String) -> String {
    var result = ""
    var count = 0
    for character in text {
      guard count < greatestWidth else { return result + "…" }
      let isPlain = character.unicodeScalars.allSatisfy { !($0.value < 0x20 || 0x7f...0x9f ~= $0.value) }
      result += isPlain ? String(character) : character.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
      count += max(1, DisplayWidth.of(character))
    }
    return result
  }
}
