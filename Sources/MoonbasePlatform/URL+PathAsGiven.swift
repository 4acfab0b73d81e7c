extension URL {
  /// The absolute path, with every `..` kept.
  ///
  /// `path` removes a `..` together with the component before it, which is wrong if that is a link.
  package var pathAsGiven: String {
    let relative = relativePath
    if relative.hasPrefix("/") { return relative }
    return (baseURL?.path ?? FileManager.default.currentDirectoryPath) + "/" + relative
  }
}
