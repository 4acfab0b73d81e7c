import MoonbaseModel
import MoonbaseModelFormats
package import MoonbasePlatform

/// A model may say what Core Data's archive has no place for: flags of fetch requests, what only editors read. In the table
/// `Z_MODELCACHE` stands what a framework would write there, and the whole model under a key of our own in the metadata.
extension StoreMetadata {
  package static let modelKey = "MoonbaseModel"

  /// Keeps the whole model, with the digest of the cache that it belongs to.
  package mutating func keep(_ complete: Data, besideCache cache: Data) {
    entries[Self.modelKey] = .dictionary(["cache": .data(SHA2.sha256(cache)), "model": .data(complete)])
  }

  /// The whole model, if the store's cache is still the one that it was written with; else the cache.
  package func model(besideCache cache: Data) -> Data {
    guard let entry = entries[Self.modelKey]?.dictionary, let complete = entry["model"]?.data,
      entry["cache"]?.data == SHA2.sha256(cache)
    else { return cache }
    return complete
  }
}

/// In which columns the elements of composite attributes lie, which no store of Core Data's was at hand to tell.
extension StoreMetadata {
  package static let elementsKey = "MoonbaseElementColumns"

  /// By `Entity.attribute.element`; nothing in files that were not made here.
  package var elementColumns: [String: String] {
    get { entries[Self.elementsKey]?.dictionary?.compactMapValues(\.string) ?? [:] }
    set { entries[Self.elementsKey] = newValue.isEmpty ? nil : .dictionary(newValue.mapValues(PropertyList.string)) }
  }
}
