import MoonbaseModel

import enum MoonbaseModel.Expression
import MoonbaseSQLiteStore

/// A key path of a value expression, which may end with properties of the Foundation type of an attribute's value:
/// `$source.url.absoluteString`.
///
/// Core Data evaluates mapping expressions with key-value coding, which reaches methods of Foundation values. A few of
/// them are known as predicate functions.
struct MappedPath {
  /// The keys that the model knows.
  private let known: [String]
  /// The methods to call on the value, in order.
  private let methods: [PredicateFunction]

  /// Divides a path into keys and methods. A path with an unknown method is kept whole, so that compiling it reports
  /// the mistake.
  init(_ path: [String], from entity: ResolvedEntity, in model: ResolvedModel) {
    let count = Self.knownCount(of: path, from: entity, in: model)
    let methods = path.dropFirst(count).map { key in
      PredicateFunction.method(key).flatMap { $0.argumentCount == 1 ? $0 : nil }
    }
    // With an unknown key, the whole path is refused like any other invalid path.
    guard !methods.contains(nil) else {
      (known, self.methods) = (path, [])
      return
    }
    (known, self.methods) = (Array(path.prefix(count)), methods.compactMap(\.self))
  }

  /// For example a call of `uppercaseString` on the key path `name`.
  var expression: Expression {
    methods.reduce(.keyPath(.evaluatedObject, known)) { .function($1.rawValue, [$0]) }
  }

  /// The number of keys that the model knows, up to an attribute with a plain value.
  private static func knownCount(of path: [String], from entity: ResolvedEntity, in model: ResolvedModel) -> Int {
    var entity = entity
    for (index, key) in path.enumerated() {
      guard let property = entity.property(key) else { return path.count }
      guard let relationship = property.relationship else {
        return plainCount(of: path, attribute: property.attribute, at: index)
      }
      entity = model.destination(of: relationship)
    }
    return path.count
  }

  /// The number of keys that the model knows if there is an attribute at `index`. Further keys name elements of
  /// composites.
  private static func plainCount(of path: [String], attribute: AttributeDescription?, at index: Int) -> Int {
    guard let attribute else { return path.count }
    switch attribute.type {
    case .transformable, .undefined: return path.count
    case .composite:
      let next = index + 1
      guard next < path.count else { return path.count }
      return plainCount(of: path, attribute: attribute.elements.first { $0.name == path[next] }, at: next)
    default: return index + 1
    }
  }
}
