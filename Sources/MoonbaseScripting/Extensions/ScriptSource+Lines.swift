import MoonbaseModel

extension ScriptSource {
  /// The place of a key in the table that the file returns, given the keys that lead to it.
  ///
  /// Looks for `key =` or `["key"] =` after the key before it; a key that a table does not write out has the place of the one
  /// around it.
  func location(of path: [String]) -> SourceLocation {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    var found: Int?
    var start = lines.lastIndex { $0.hasPrefix("return") } ?? 0
    for key in path {
      guard let index = lines[start...].firstIndex(where: { Self.defines(key, $0) }) else { break }
      found = index
      start = index
    }
    return SourceLocation(file: name, line: found.map { $0 + 1 })
  }

  private static func defines(_ key: String, _ line: Substring) -> Bool {
    var rest = line[...]
    while let range = rest.firstRange(of: key) {
      let after = rest[range.upperBound...].drop { " \t\"']".contains($0) }
      let before = rest[..<range.lowerBound].last
      let isWord = before.map { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") } ?? true
      if isWord, after.first == "=", after.dropFirst().first != "=" { return true }
      rest = rest[range.upperBound...]
    }
    return false
  }
}
