import MoonbaseGraph
import MoonbasePlatform

/// The extensions that stores remember.
extension PersistentContainer {
  /// An extension that saves of a store ran with.
  public struct RememberedExtension: Sendable, Hashable {
    /// Its name, or that of its file.
    public var name: String
    /// Its version, where it says one.
    public var version: String?

    init(name: String, version: String) { (self.name, self.version) = (name, version.isEmpty ? nil : version) }
  }

  /// The extensions that saves of the open stores ran with, by name. Each save of objects notes those it ran with in
  /// the store's metadata, in its transaction, where the store does not know them yet.
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

  /// Whether the container has no extension of that name.
  public func lacks(_ extension: RememberedExtension) -> Bool { extensions.versions[`extension`.name] == nil }

  /// Lets the stores forget an extension: they are written without it from now on, and nothing is said.
  public func forgetExtension(_ name: String) throws {
    for store in coordinator.persistentStores
    where try !store.isReadOnly && RememberedExtensions.versions(in: store.metadata())[name] != nil {
      try store.change(MetadataChange(of: store, RememberedExtensions.removing(name)))
    }
  }

  /// Has the stores note the extensions of a context before a statement of the store asks their rules, without a save
  /// of objects.
  package func noteExtensions(of context: ManagedObjectContext) throws {
    try coordinator.noteExtensions(of: context.extensionRegistry)
  }

  /// Throws, or tells, where a store remembers extensions that are missing.
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
