/// Excerpts for messages.
extension LuaSource {
  /// The lines around a line, with a caret under the last quoted word of the message that occurs in the line. Nil for a
  /// line that the source does not have. Lines are counted from `firstLine`.
  public func frame(line: Int, message: String = "", context: Int = 2) -> String? {
    guard let text = self.line(line) else { return nil }
    let first = max(firstLine, line - context)
    let width = String(line + context).count
    var rows: [String] = []
    for number in first...(line + context) {
      guard let content = self.line(number) else { break }
      rows.append("\(number == line ? ">" : " ") \(pad(String(number), to: width)) | \(Self.shown(content))")
      if number == line {
        let column = Self.column(in: Self.shown(text), message: message)
        rows.append("  \(pad("", to: width)) | \(String(repeating: " ", count: column))^")
      }
    }
    return rows.joined(separator: "\n")
  }

  /// Aligned on the right.
  private func pad(_ text: String, to width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// At most 200 characters, with tabs as single spaces so that the caret fits.
  private static func shown(_ line: String) -> String {
    String(line.replacing("\t", with: " ").filter { $0 != "\r" }.prefix(200))
  }

  /// The column of the last quoted word of the message that occurs in the line, as in "near 'x'" or "(local 'p')".
  /// Otherwise the column of the last word that is a field, a method or a string there, else the first nonblank column.
  private static func column(in line: String, message: String) -> Int {
    let words = message.split(separator: "'", omittingEmptySubsequences: false)
    for index in words.indices.reversed() where index % 2 == 1 && !words[index].isEmpty {
      if let range = line.ranges(of: words[index]).last {
        return line.distance(from: line.startIndex, to: range.lowerBound)
      }
    }
    return columnOfName(in: line, message: message) ?? line.prefix { $0 == " " }.count
  }

  /// The column of the last name of the message that follows a dot, a colon or a quote. Names in advice at the end of
  /// the message are ignored.
  private static func columnOfName(in line: String, message: String) -> Int? {
    // The script raised its own text.
    guard !line.contains(message) else { return nil }
    let end = message.ranges(of: "; did you mean").first?.lowerBound ?? message.endIndex
    let names = message[..<end].split { !($0.isLetter || $0.isNumber || $0 == "_") }
    for name in names.reversed() {
      for sign in [".", ":", "\"", "'"] {
        guard let range = line.ranges(of: sign + name).last, !line[range.upperBound...].beginsWithWord else { continue }
        return line.distance(from: line.startIndex, to: range.lowerBound) + 1
      }
    }
    return nil
  }
}

/// For finding whole words.
extension Substring {
  fileprivate var beginsWithWord: Bool { first.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false }
}
