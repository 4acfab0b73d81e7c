extension URL {
  /// The absolute path with every `..` still in it.
  ///
  /// `path` takes a `..` away together with what stands before it; where that is a link, the result is another file.
  package var pathAsGiven: String {
    let relative = relativePath
    if relative.hasPrefix("/") { return relative }
    return (baseURL?.path ?? FileManager.default.currentDirectoryPath) + "/" + relative
  }
}
