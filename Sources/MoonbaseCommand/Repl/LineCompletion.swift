import MoonbasePlatform
import MoonbaseScripting

/// The candidates for the end of a line, including file names.
///
/// `EditedLines` creates it for each Tab. Names with control characters are left out, because they
/// could change the terminal.
struct LineCompletion {
  /// The maximum number of candidates that are listed.
  private static let greatestCount = 200

  /// The number of characters that a candidate replaces.
  let length: Int
  /// The full texts that can replace the end of the line.
  let candidates: [String]
  /// The end of the line that a candidate replaces.
  private let typed: String

  /// Collects the candidates, and reads file names if they are requested.
  ///
  /// - Parameters:
  ///   - found: The candidates, or the request for file names.
  ///   - line: The text before the cursor.
  init(_ found: PromptCompletion, of line: [UInt8]) {
    typed = String(decoding: line.suffix(found.length), as: UTF8.self)
    length = typed.unicodeScalars.count
    // Names may come from files of unknown origin.
    candidates = (found.wantsFile ? Self.files(typed) : found.candidates).filter { TerminalText.escaped($0) == $0 }
  }

  /// The common beginning of all candidates, if it is longer than the text before the cursor.
  ///
  /// A Tab inserts it.
  var common: String? {
    guard var common = candidates.first else { return nil }
    for candidate in candidates { common = common.commonPrefix(with: candidate) }
    return common.utf8.count > typed.utf8.count ? common : nil
  }

  /// The files and folders that match the start of a path. Hidden files are only included if the path contains their
  /// dot.
  ///
  /// Folders end with a slash.
  private static func files(_ path: String) -> [String] {
    let end = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
    let (folder, name) = (String(path[..<end]), path[end...])
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
    return names.filter { $0.hasPrefix(name) && (name.hasPrefix(".") || !$0.hasPrefix(".")) }.sorted().map { name in
      folder + name + (FileIdentity.kind(folder + name) == "folder" ? "/" : "")
    }
  }

  /// The candidates in columns, for display.
  ///
  /// - Parameter width: The number of columns of the terminal.
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
