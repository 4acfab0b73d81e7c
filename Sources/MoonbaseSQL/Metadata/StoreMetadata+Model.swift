import MoonbaseModel
import MoonbaseModelFormats
package import MoonbasePlatform

/// A model may contain parts for which Core Data's archive has no place: flags of fetch requests, and data of editors.
/// The table `Z_MODELCACHE` holds the archive that a framework would write. The metadata holds the whole model under a
/// key of Moonbase's own.
extension StoreMetadata {
  /// The key of the whole model in the metadata. The value is a dictionary of `cache`, the digest of the archive, and
  /// `model`, the whole model.
  package static let modelKey = "MoonbaseModel"

  /// Stores the whole model, with the digest of the archive that it belongs to. The digest detects a framework that
  /// wrote another model later.
  package mutating func keep(_ complete: Data, besideCache cache: Data) {
    entries[Self.modelKey] = .dictionary(["cache": .data(SHA2.sha256(cache)), "model": .data(complete)])
  }

  /// The whole model, if the archive is still the one written with it. Otherwise the archive. `cache` is the content of
  /// `Z_MODELCACHE`.
  package func model(besideCache cache: Data) -> Data {
    guard let entry = entries[Self.modelKey]?.dictionary, let complete = entry["model"]?.data,
      entry["cache"]?.data == SHA2.sha256(cache)
    else { return cache }
    return complete
  }
}

/// The columns of composite attributes' elements. No store of Core Data was available to show its own choice.
extension StoreMetadata {
  /// The key of the elements' columns in the metadata.
  package static let elementsKey = "MoonbaseElementColumns"

  /// The columns by `Entity.attribute.element`. Empty in files of other programs.
  package var elementColumns: [String: String] {
    get { entries[Self.elementsKey]?.dictionary?.compactMapValues(\.string) ?? [:] }
    set { entries[Self.elementsKey] = newValue.isEmpty ? nil : .dictionary(newValue.mapValues(PropertyList.string)) }
  }
}
