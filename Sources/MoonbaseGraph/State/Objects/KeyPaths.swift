import MoonbaseModel
import MoonbasePlatform

/// A cache of compiled key paths of one context.
struct KeyPaths {
  /// The limit of cached paths, for programs that generate paths.
  private static let greatestCount = 512

  private var known: [String: CompiledExpression] = [:]

  /// A path as a compiled expression that works for any subject.
  mutating func expression(for path: String) throws -> CompiledExpression {
    if let found = known[path] { return found }
    let new = try CompiledExpression(.keyPath(.evaluatedObject, Self.keys(of: path)))
    if known.count >= Self.greatestCount { known = [:] }
    known[path] = new
    return new
  }

  /// The keys of a path. Throws if a key is empty.
  static func keys(of path: String, on entity: ResolvedEntity? = nil) throws -> [String] {
    let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard keys.allSatisfy({ !$0.isEmpty }) else {
      let subject = entity.map { "\($0.name): " } ?? ""
      throw GraphError(
        .invalidRequest, message: "\(subject)the key path \(path.asName) has an empty key", entity: entity?.name)
    }
    return keys
  }
}
