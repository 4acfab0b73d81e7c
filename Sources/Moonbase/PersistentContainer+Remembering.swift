import MoonbaseGraph
import MoonbasePlatform

/// The extensions that stores have recorded with their saves.
extension PersistentContainer {
  /// An extension that was active at a save of a store.
  public struct RememberedExtension: Sendable, Hashable {
    /// The extension's name, or the name of its file.
    public var name: String
    /// The extension's version; nil if it declares none.
    public var version: String?

    init(name: String, version: String) { (self.name, self.version) = (name, version.isEmpty ? nil : version) }
  }

  /// The extensions that were active at saves of the open stores, by name.
  ///
  /// Each save of objects records its extensions in the store's metadata, within its transaction, unless they are
  /// recorded already.
  ///
  /// ```swift
  /// for remembered in try container.rememberedExtensions() where container.lacks(remembered) {
  ///   print("saves ran with \(remembered.name)")
  /// }
  /// ```
  public func rememberedExtensions() throws -> [RememberedExtension] {
    let all = try coordinator.persistentStores.map { try RememberedExtensions.versions(in: $0.metadata()) }
    return all.reduce(into: [:]) { $0.merge($1) { _, later in later } }.sorted { $0.key < $1.key }
      .map { RememberedExtension(name: $0.key, version: $0.value) }
  }

  /// Whether the container has no extension with the name.
  public func lacks(_ extension: RememberedExtension) -> Bool { extensions.versions[`extension`.name] == nil }

  /// Removes an extension from the stores' records: later saves without it are accepted silently.
  public func forgetExtension(_ name: String) throws {
    for store in coordinator.persistentStores
    where try !store.isReadOnly && RememberedExtensions.versions(in: store.metadata())[name] != nil {
      try store.change(MetadataChange(of: store, RememberedExtensions.removing(name)))
    }
  }

  /// Records the extensions of a context in the stores before a statement evaluates their rules without a save of
  /// objects.
  package func noteExtensions(of context: ManagedObjectContext) throws {
    try coordinator.noteExtensions(of: context.extensionRegistry)
  }

  /// Throws, or reports to the program, if the store recorded extensions that the container lacks.
  func checkExtensions(of store: any PersistentStore) throws {
    guard case .refused(let exceptions, let tell) = missingExtensions, store.url != nil else { return }
    let known = extensions.versions
    let missing = try RememberedExtensions.versions(in: store.metadata()).keys
      .filter { known[$0] == nil && !exceptions.contains($0) }.sorted()
    guard let first = missing.first else { return }
    let place = store.url.map { $0.isFileURL ? $0.relativePath : $0.absoluteString } ?? store.identifier
    let what =
      "\(place): saves of the store ran with \(missing.count == 1 ? "extension" : "extensions") \(missing.listed())"
    guard store.isReadOnly else {
      throw GraphError(
        .extensionConflict,
        message:
          "\(what), whose rules and stored values would be passed over: load it (--extension PATH), or go without it "
          + "(--without-extension \(first); in Swift, .refused(but: [\"\(first)\"]))")
    }
    tell("\(what), which is not loaded here: what it adds is not shown")
  }
}
