extension FetchRequest.ResultType {
  /// The name in a Lua model and in messages.
  public var modelName: String {
    switch self {
    case .objects: "objects"
    case .objectIDs: "ids"
    case .dictionaries: "dictionaries"
    case .count: "count"
    }
  }

  /// The type of a name in a Lua model.
  public init?(modelName: String) {
    guard let type = Self.all.first(where: { $0.modelName == modelName }) else { return nil }
    self = type
  }

  /// All names in a Lua model.
  package static var modelNames: [String] { all.map(\.modelName) }

  private static let all: [Self] = [.objects, .objectIDs, .dictionaries, .count]
}
