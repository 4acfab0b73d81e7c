extension URL {
  /// The URL of a file as `open` takes its path. `URL(fileURLWithPath:)` makes a home folder of a `~` at its beginning, which is
  /// the shell's affair: what reaches a program is the name of a file.
  package init(literalPath path: String) {
    self.init(fileURLWithPath: path.hasPrefix("~") ? "./\(path)" : path)
  }
}
