import MoonbaseModel
import MoonbasePageFiles
import MoonbasePlatform

/// `docs/errors.md`, compiled in: a table with a line for each error, and a section for each.
///
/// `moonbase explain` and the hint after an error use it. The page is parsed when it is first
/// needed.
enum ErrorPage {
  /// An error of the page.
  struct Entry {
    /// The number of the code.
    let number: String
    /// The name of the code, as in Swift.
    let name: String
    /// The third column of the table.
    let meaning: String
    /// The last column of the table: the effect in scripts.
    let effect: String
    /// The section, without its heading.
    let section: String
  }

  /// All entries, in the order of the page.
  static let entries: [Entry] = {
    let file = mbp_errors().pointee
    let bytes = UnsafeBufferPointer(start: file.bytes, count: file.length)
    return entries(of: String(decoding: bytes, as: UTF8.self))
  }()

  /// The entries of a text, in the order of its table.
  static func entries(of text: String) -> [Entry] {
    let parts = text.components(separatedBy: "\n### ")
    var sections: [Substring: String] = [:]
    for part in parts.dropFirst() {
      let lines = part.split(separator: "\n", maxSplits: 1)
      if let heading = lines.first, lines.count == 2 { sections[heading] = String(lines[1]) }
    }
    return text.matches(of: #/(?m)^\| (\d+) \| `(\w+)` \| (.*) \| (.+) \|$/#).map { match in
      Entry(
        number: String(match.1), name: String(match.2), meaning: String(match.3), effect: String(match.4),
        section: sections["\(match.1) \(match.2)"] ?? "")
    }
  }

  /// Names the command that explains an error, where a person reads standard error.
  ///
  /// The hint is only printed for a person, and for codes with a page.
  static func point(to code: ErrorCode?) {
    guard isatty(STDERR_FILENO) == 1, let code, code.name != nil else { return }
    Terminal.complain("'moonbase explain \(code.rawValue)' says more")
  }

  /// Names the command for an error with a code.
  static func point(to error: any Error) { point(to: (error as? any CodedError)?.code) }

  /// A line of Markdown without the marks of links and code.
  static func plain(_ line: some StringProtocol) -> String {
    String(line).replacing(#/\[([^\]]+)\]\([^)]+\)/#) { $0.output.1 }.replacing("`", with: "")
  }
}

extension ErrorPage.Entry {
  /// The entry for a terminal: paragraphs are wrapped, and code is indented.
  func text(width: Int) -> String {
    var blocks = ["\(number) \(name)", WrappedText.lines(sentence, width: width)]
    var isCode = false
    var lines: [String] = []
    func wrapped() -> [String] {
      let isItem = lines.first?.hasPrefix("- ") == true
      let text = ErrorPage.plain(lines.joined(separator: " "))
      return lines.isEmpty ? [] : [WrappedText.lines(text, width: width, hanging: isItem ? 2 : 0)]
    }
    for line in section.components(separatedBy: "\n") {
      if line.hasPrefix("```") {
        if isCode { blocks.append(lines.map { $0.isEmpty ? "" : "    \($0)" }.joined(separator: "\n")) }
        isCode.toggle()
        lines = []
      } else if isCode {
        lines.append(line)
      } else if line.isEmpty || line.hasPrefix("- ") {
        blocks += wrapped()
        lines = line.isEmpty ? [] : [line]
      } else {
        lines.append(line)
      }
    }
    return (blocks + wrapped()).joined(separator: "\n\n")
  }

  /// The meaning and the effect in a sentence.
  private var sentence: String {
    let meaning = ErrorPage.plain(meaning)
    let effect = effect == "`nil, err`" ? "save and its like return nil and the error, all else raises it" : effect
    return "\(meaning.prefix(1).uppercased())\(meaning.dropFirst()). In scripts: \(effect)."
  }
}
