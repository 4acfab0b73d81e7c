extension String {
  /// The folder that a path names a file in: `.` for a mere name.
  package var folderOfPath: String {
    // By bytes: an accent that follows the slash makes another character of it, and still a folder's end of it.
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == startIndex ? "/" : String(self[..<slash])
  }

  /// The part of a path behind its last slash.
  package var lastPartOfPath: String {
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return self }
    return String(decoding: utf8[utf8.index(after: slash)...], as: UTF8.self)
  }
}
