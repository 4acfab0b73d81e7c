import MoonbasePlatform
import MoonbaseScripting

/// The candidates for the end of a line, including file names.
struct LineCompletion {
  private static let greatestCount = 200

  /// The number of characters that a candidate replaces.
  let length: Int
  let candidates: [String]
  private let typed: String

  init(_ found: PromptCompletion, of line: [UInt8]) {
    typed = String(decoding: line.suffix(found.length), as: UTF8.self)
    length = typed.unicodeScalars.count
    // Names may come from files of unknown origin.
    candidates = (found.wantsFile ? Self.files(typed) : found.candidates).filter { TerminalText.escaped($0) == $0 }
  }

  /// The common beginning of all candidates, if it is longer than the text before the cursor.
  var common: String? {
    guard var common = candidates.first else { return nil }
    for candidate in candidates { common = common.commonPrefix(with: candidate) }
    return common.utf8.count > typed.utf8.count ? common : nil
  }

  /// The files and folders that match the start of a path. Hidden files are only included if the path contains their
  /// dot.
  private static func files(_ path: String) -> [String] {
    let end = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
    let (folder, name) = (String(path[..<end]), path[end...])
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
    return names.filter { $0.hasPrefix(name) && (name.hasPrefix(".") || !$0.hasPrefix(".")) }.sorted().map { name in
      folder + name + (FileIdentity.kind(folder + name) == "folder" ? "/" : "")
    }
  }

  /// The candidates in columns, for display.
  func list(width: Int) -> String {
    let shown = candidates.prefix(Self.greatestCount).map { TerminalText.escaped($0) }
    let column = (shown.map(DisplayWidth.of).max() ?? 0) + 2
    let count = max(1, width / column)
    var text = ""
    for (index, name) in shown.enumerated() {
      let isLast = index % count == count - 1 || index == shown.count - 1
      text += name + (isLast ? "\n" : String(repeating: " ", count: column - DisplayWidth.of(name)))
    }
    let rest = candidates.count - shown.count
    return rest > 0 ? text + "… and \(rest) more\n" : text
  }
}
