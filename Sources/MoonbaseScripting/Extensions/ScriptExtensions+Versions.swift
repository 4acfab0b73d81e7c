import MoonbasePlatform

extension ScriptExtensions.Generation {
  /// The versions of the extensions by name, or by file name; an empty text for an extension without a version. Stores
  /// remember these names and versions (`MissingExtensions`). Built-in transformers are left out.
  var versions: [String: String] {
    listing.filter { $0.source != ReadyMadeTransformers.sourceName }
      .reduce(into: [:]) { $0[$1.name == $1.source ? $1.source.stemOfPath : $1.name] = $1.version ?? "" }
  }
}

extension ScriptExtensions {
  /// The versions of the extensions that are loaded now.
  package var versions: [String: String] { current.withLock { $0.versions } }
}
