package import MoonbaseModel
import MoonbasePlatform

/// The extensions that were active at saves of a store, by name and version, in the store's metadata.
///
/// The version is an empty text for an extension that declares none.
package enum RememberedExtensions {
  /// The key in the metadata.
  package static let key = "MoonbaseExtensions"

  /// The extensions in the metadata of a store.
  package static func versions(in metadata: [String: Value]) -> [String: String] {
    guard case .map(let entries)? = metadata[key] else { return [:] }
    return entries.compactMapValues(\.text)
  }

  /// The metadata change that adds extensions, applied after another change of the same save.
  package static func adding(
    _ versions: [String: String], after former: MetadataChange.Body? = nil
  ) -> MetadataChange.Body {
    { metadata in
      var result = try former?(metadata) ?? metadata
      let known = Self.versions(in: result)
      result[key] = .map(known.merging(versions) { $1 }.mapValues(Value.string))
      return result
    }
  }

  /// The metadata change that removes an extension.
  package static func removing(_ name: String) -> MetadataChange.Body {
    { metadata in
      var result = metadata
      let left = versions(in: metadata).filter { $0.key != name }
      result[key] = left.isEmpty ? nil : .map(left.mapValues(Value.string))
      return result
    }
  }
}

extension PersistentStoreCoordinator {
  /// Whether a store's metadata lack one of the given versions. An in-memory store records none.
  func mustNote(_ versions: [String: String], in store: any PersistentStore, number: UInt32) throws -> Bool {
    guard store.url != nil, !versions.isEmpty else { return false }
    if notedExtensions.withLock({ $0[number] }) == versions { return false }
    let known = try RememberedExtensions.versions(in: store.metadata())
    guard versions.allSatisfy({ known[$0.key] == $0.value }) else { return true }
    notedExtensions.withLock { $0[number] = versions }
    return false
  }

  /// Records the extensions of a registry in every writable store that lacks one of them, each by a save of its own.
  package func noteExtensions(of registry: ExtensionRegistry) throws {
    for store in persistentStores
    where try !store.isReadOnly
      && mustNote(registry.versions, in: store, number: StoreNumber(store.identifier).rawValue)
    {
      try store.change(MetadataChange(of: store, RememberedExtensions.adding(registry.versions)))
    }
  }
}
