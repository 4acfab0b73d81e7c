extension URL {
  /// The URL of a file with the path's meaning in `open`. `URL(fileURLWithPath:)` expands a leading `~` to the home
  /// folder, which is the shell's task: a program receives the name of a file.
  package init(literalPath path: String) {
    self.init(fileURLWithPath: path.hasPrefix("~") ? "./\(path)" : path)
  }
}
