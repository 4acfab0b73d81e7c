extension String {
  /// The folder of a path; `.` for a bare name.
  package var folderOfPath: String {
    // Searched by bytes, because a combining mark after the slash makes another character but still separates folders.
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == startIndex ? "/" : String(self[..<slash])
  }

  /// The last component of a path.
  package var lastPartOfPath: String {
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return self }
    return String(decoding: utf8[utf8.index(after: slash)...], as: UTF8.self)
  }
}
