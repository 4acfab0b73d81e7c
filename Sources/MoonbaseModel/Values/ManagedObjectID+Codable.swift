import MoonbasePlatform

/// As its URI: a permanent ID can be read again where its store is open or was.
extension ManagedObjectID: Codable {
  /// Reads a URI. Throws for a temporary ID, and for one of a store or an entity that this process does not know.
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
