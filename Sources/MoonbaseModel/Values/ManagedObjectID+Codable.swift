import MoonbasePlatform

/// Encoded as a URI. A permanent ID can be decoded in a process that has opened its store.
extension ManagedObjectID: Codable {
  /// Decodes a URI. Throws for a temporary ID, and for a store or an entity that this process does not know.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let id = Self(uriRepresentation: text) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "\(text) is no permanent object ID of a store that was opened: open its store before")
    }
    self = id
  }

  /// Writes the URI.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(uriRepresentation)
  }
}
