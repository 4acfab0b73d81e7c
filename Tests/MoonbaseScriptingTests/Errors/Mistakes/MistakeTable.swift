import MoonbasePlatform

/// A file of mistakes: a line of code, and below it, indented, the required parts of the message.
struct MistakeTable {
  struct Entry {
    let code: String
    var words: [String] = []
  }

  private(set) var entries: [Entry] = []

  /// Reads the file `name` beside the suites. A line that begins with `#` is a heading.
  init(_ name: String) throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Tables")
    let text = try String(contentsOf: folder.appendingPathComponent("\(name).txt"), encoding: .utf8)
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      if line.hasPrefix("  ") {
        entries[entries.count - 1].words.append(String(line.dropFirst(2)))
      } else {
        entries.append(Entry(code: String(line)))
      }
    }
  }
}
