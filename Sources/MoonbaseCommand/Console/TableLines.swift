/// A table for display. The first rows determine the widths of the columns. A wider value in a later row moves the rest
/// of its line to the right.
///
/// Rows are added one by one; `add` and `finish` append to bytes that the caller writes. After the
/// first hundred rows, the widths are fixed, so a table of any length takes bounded memory.
struct TableLines {
  /// The number of rows that determine the widths.
  private static let rowsThatCount = 100
  /// The maximum width of a text, of which only the beginning is shown. An ID is always shown completely, because a
  /// part of it identifies nothing.
  private static let greatestWidth = 60

  /// The names of the columns.
  private let columns: [String]
  /// The width of each column.
  private var widths: [Int]
  /// Which columns are aligned to the right.
  private var isRight: [Bool]
  /// Which columns contain numbers or IDs, which are not truncated.
  private var isWhole: [Bool]
  /// The rows before the widths are known, nil afterwards.
  private var first: [[String]]? = []
  /// The number of terminal columns for the table, or nil if there is no limit.
  private let room: Int?
  /// The indexes of the visible columns.
  private var visible: [Int]
  /// Which columns have a value in at least one row.
  private var isFilled: [Bool]

  /// With `room`, empty columns are left out if not all columns fit, and texts are truncated. If this is not enough,
  /// the last columns are left out too. The names of these columns are printed below the table.
  init(columns: [String], room: Int? = nil) {
    (self.columns, widths) = (columns.map { Self.shown($0) }, columns.map { DisplayWidth.of(Self.shown($0)) })
    isRight = columns.map { _ in false }
    (isWhole, isFilled, self.room, visible) = (isRight, isRight, room, Array(columns.indices))
  }

  /// Adds a row.
  ///
  /// - Parameters:
  ///   - cells: The texts of the columns.
  ///   - isNumber: Which cells are numbers.
  ///   - isID: Which cells are IDs.
  ///   - bytes: Receives finished lines.
  mutating func add(_ cells: [String], isNumber: [Bool], isID: [Bool], to bytes: inout [UInt8]) {
    let most = max(Self.greatestWidth, room ?? 0)
    let row = zip(cells, isID).map { $1 ? $0 : Self.shown($0, most) }
    for (index, cell) in row.enumerated() where !cell.isEmpty { isFilled[index] = true }
    guard first != nil else { return append(row, isWhole: zip(isNumber, isID).map { $0 || $1 }, to: &bytes) }
    for (index, cell) in row.enumerated() {
      widths[index] = max(widths[index], DisplayWidth.of(cell))
      if isNumber[index] { isRight[index] = true }
      if isNumber[index] || isID[index] { isWhole[index] = true }
    }
    first?.append(row)
    if first?.count == Self.rowsThatCount { begin(&bytes) }
  }

  /// Writes the rest of the table. No row may follow.
  mutating func finish(_ bytes: inout [UInt8]) {
    if first != nil { begin(&bytes) }
    let others = columns.indices.filter { !visible.contains($0) }
    for (what, places) in [
      ("without values", others.filter { !isFilled[$0] }), ("not shown", others.filter { isFilled[$0] }),
    ] where !places.isEmpty {
      bytes.append(contentsOf: "(\(what): \(places.map { columns[$0] }.joined(separator: ", ")))\n".utf8)
    }
  }

  /// Determines the widths, and writes the head and the rows so far.
  private mutating func begin(_ bytes: inout [UInt8]) {
    if let room { fit(in: room) }
    append(columns, to: &bytes)
    append(widths.map { String(repeating: "-", count: $0) }, to: &bytes)
    for row in first ?? [] { append(row, to: &bytes) }
    first = nil
  }

  /// `isWhole` says which cells are not truncated, even if they are wider than their columns.
  ///
  /// Appends a row as a line.
  private func append(_ row: [String], isWhole: [Bool] = [], to bytes: inout [UInt8]) {
    var line = ""
    for index in visible {
      let whole = row[index]
      let fits = room == nil || (!isWhole.isEmpty && isWhole[index]) || DisplayWidth.of(whole) <= widths[index]
      let cell = fits ? whole : Self.cut(whole, to: widths[index])
      let space = String(repeating: " ", count: max(0, widths[index] - DisplayWidth.of(cell)))
      line += (index == visible[0] ? "" : "  ") + (isRight[index] ? space + cell : cell + space)
    }
    while line.last == " " { line.removeLast() }
    bytes.append(contentsOf: (line + "\n").utf8)
  }

  // MARK: Fitting

  /// Texts are truncated to this width before a column is left out.
  private static let leastWidth = 8
  /// The distance between columns.
  private static let gap = 2

  /// Hides and narrows columns until the table fits into `room` columns.
  private mutating func fit(in room: Int) {
    let least = zip(widths, isWhole).map { $1 ? $0 : min($0, Self.leastWidth) }
    func sum(_ widths: [Int]) -> Int { visible.reduce(Self.gap * (visible.count - 1)) { $0 + widths[$1] } }
    if sum(widths) > room, isFilled.contains(true) { visible.removeAll { !isFilled[$0] } }
    while visible.count > 1, sum(least) > room { visible.removeLast() }
    while sum(widths) > room {
      let narrowable = visible.filter { widths[$0] > least[$0] }
      guard let widest = narrowable.max(by: { widths[$0] < widths[$1] }) else { return }
      widths[widest] -= 1
    }
  }

  /// The beginning of a text with a sign for the omitted rest.
  private static func cut(_ text: String, to width: Int) -> String {
    var result = ""
    var count = 0
    for character in text {
      count += DisplayWidth.of(character)
      guard count < width else { break }
      result.append(character)
    }
    return result + "…"
  }

  /// The text as a line of plain characters, truncated to its beginning.
  private static func shown(_ text: String, _ most: Int = greatestWidth) -> String {
    var result = ""
    var count = 0
    for character in text {
      guard count < most else { return result + "…" }
      result += character.inOneLine
      count += max(1, DisplayWidth.of(character))
    }
    return result
  }
}

extension String {
  /// The text as a line of plain characters. Characters that control a terminal, end a line or change the direction of
  /// text are escaped.
  var inOneLine: String {
    unicodeScalars.contains { Character.isControl($0.value) } ? map(\.inOneLine).joined() : self
  }
}

extension Character {
  /// The character, or its escape.
  fileprivate var inOneLine: String {
    let isPlain = unicodeScalars.allSatisfy { !Self.isControl($0.value) }
    return isPlain ? String(self) : unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
  }

  /// Whether a code point is a control character, a line end or a mark of direction.
  fileprivate static func isControl(_ code: UInt32) -> Bool {
    code < 0x20 || 0x7f...0x9f ~= code || 0x2028...0x202e ~= code || 0x2066...0x2069 ~= code
  }
}
