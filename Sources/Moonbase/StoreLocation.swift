public import MoonbasePlatform

/// Where a container keeps objects.
public struct StoreLocation: Sendable {
  enum Kind: Sendable {
    case inMemory
    case sqlite(URL, readOnly: Bool)
  }

  let kind: Kind
  /// The configuration of the model whose entities the store holds; nil for all.
  public var configuration: String?

  /// A store that lives as long as its container.
  public static let inMemory = StoreLocation(kind: .inMemory)

  /// A file in Core Data's SQLite format, made if it is not there.
  public static func sqlite(_ url: URL, readOnly: Bool = false, configuration: String? = nil) -> StoreLocation {
    StoreLocation(kind: .sqlite(url, readOnly: readOnly), configuration: configuration)
  }

  func open(_ model: ResolvedModel) throws -> any PersistentStore {
    switch kind {
    case .inMemory: try InMemoryStore(model: model, configuration: configuration)
    case .sqlite(let url, let readOnly):
      try SQLiteStore(url: url, model: model, configuration: configuration, options: .init(readOnly: readOnly))
    }
  }
}
