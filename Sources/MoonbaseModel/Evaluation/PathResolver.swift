import MoonbasePlatform

/// Follows the components of a key path through a resolved model.
///
/// The checker uses the end of a path for types, and the compiler uses its steps for evaluation.
/// Errors are `.predicateMismatch` and name the key, with a suggestion.
struct PathResolver {
  /// The model.
  let model: ResolvedModel

  /// Throws if a path is too long.
  static func check(_ components: [String]) throws(ModelError) {
    guard components.count > PredicateLimits.greatestPathLength else { return }
    throw ModelError(
      .invalidPredicate,
      message: "the key path has more than \(PredicateLimits.greatestPathLength) keys; no store can follow it")
  }

  /// The end of a key path.
  enum End {
    /// An object of this entity, or several objects.
    case entity(ResolvedEntity)
    /// A value of this attribute.
    case attribute(AttributeDescription)
    /// The ID of an object.
    case identity
    /// A count or another computed number.
    case number
    /// A part of a value whose type the model does not determine.
    case unknown
  }

  /// A resolved key path.
  struct Path {
    /// The steps for evaluation.
    var steps: [PathStep] = []
    /// The end of the path.
    var end: End
    /// Whether the end may be several values.
    var isToMany = false
    /// Whether the path ends with a sum of decimals.
    var isSumOfDecimals = false
    /// The first unordered to-many relationship on the path.
    var unordered: String?
  }

  /// Resolves the keys of a path from an entity, including operators such as `@count`.
  func resolve(_ components: [String], from entity: ResolvedEntity) throws(ModelError) -> Path {
    try extend(Path(end: .entity(entity)), with: components[...], whole: components)
  }

  /// Continues a path with further keys. `whole` is the complete path, for messages.
  func extend(
    _ path: Path, with components: ArraySlice<String>, whole: [String]
  ) throws(ModelError) -> Path {
    try Self.check(whole)
    var path = path
    var rest = components
    while let component = rest.popFirst() {
      if component.hasPrefix("@") {
        // In children.@sum.age the operator applies to the end of the remaining path.
        path = try extend(path, with: rest, whole: whole)
        return try apply(component, to: path, whole: whole)
      }
      try step(component, on: &path, whole: whole)
    }
    return path
  }

  /// Adds a step for a key.
  private func step(_ key: String, on path: inout Path, whole: [String]) throws(ModelError) {
    switch path.end {
    case .entity(let entity): try step(key, from: entity, on: &path, whole: whole)
    case .attribute(let attribute): try step(key, into: attribute, on: &path, whole: whole)
    case .identity, .number: throw mismatch("\(key) in \(joined(whole)) asks a plain value for a key", key: key)
    case .unknown: path.steps.append(.key(key))
    }
  }

  /// Adds a step from an entity: a property, or the object's own ID.
  private func step(
    _ key: String, from entity: ResolvedEntity, on path: inout Path, whole: [String]
  ) throws(ModelError) {
    guard let property = entity.property(key) else {
      if key == "objectID" || key.uppercased() == "SELF" {
        path.steps.append(.identity)
        path.end = .identity
        return
      }
      throw unknown(key, of: entity, whole: whole)
    }
    switch property.kind {
    case .attribute(let attribute):
      path.steps.append(.attribute(property.slot))
      path.end = .attribute(attribute)
    case .toOne(let relationship):
      path.steps.append(.toOne(property.slot))
      path.end = .entity(model.destination(of: relationship))
    case .toMany(let relationship):
      path.steps.append(.toMany(property.slot))
      path.end = .entity(model.destination(of: relationship))
      path.isToMany = true
      if !relationship.isOrdered { path.unordered = path.unordered ?? key }
    }
  }

  /// Adds a step into a composite or a transformable value.
  private func step(
    _ key: String, into attribute: AttributeDescription, on path: inout Path, whole: [String]
  ) throws(ModelError) {
    switch attribute.type {
    case .composite:
      guard let element = attribute.elements.first(where: { $0.name == key }) else {
        let hint = suggestion(for: key, among: attribute.elements.map(\.name))
        throw mismatch("the composite \(attribute.name) has no element \(key)\(hint)", key: key)
      }
      path.end = .attribute(element)
    case .transformable, .undefined: path.end = .unknown
    default:
      throw mismatch(
        "\(joined(whole)) asks the attribute \(attribute.name) for \(key), but it is \(attribute.type.phrase), which has no "
          + "keys\(Self.call(of: key, on: attribute))", key: key)
    }
    path.steps.append(.key(key))
  }

  /// Applies an operator to everything so far. The keys behind the operator belong to its operand.
  private func apply(_ name: String, to path: Path, whole: [String]) throws(ModelError) -> Path {
    guard let found = CollectionOperator.find(name) else {
      let hint = suggestion(for: name, among: CollectionOperator.allCases.map(\.rawValue))
      throw mismatch("there is no operator \(name)\(hint)", key: nil)
    }
    var result = path
    result.steps.append(.aggregate(found))
    switch path.end {
    case .entity, .attribute, .identity, .number:
      guard path.isToMany || path.isTransformable else {
        let hasOther = path.steps.contains { if case .aggregate = $0 { true } else { false } }
        let reason =
          hasOther
          ? "has two operators: write one of them as a function, as in count:(\(name)...)"
          : "needs a to-many relationship"
        throw mismatch("\(name) in \(joined(whole)) \(reason)", key: nil)
      }
    case .unknown: break
    }
    if found.givesCollection { return result }
    if found != .count, case .entity = path.end {
      throw mismatch("\(name) in \(joined(whole)) needs an attribute behind it", key: nil)
    }
    if found == .sum || found == .average, case .attribute(let attribute) = path.end,
      ![.number, .boolean, .unknown].contains(CheckedType(attribute))
    {
      throw mismatch(
        "\(name) in \(joined(whole)) needs numbers, but \(attribute.name) is \(attribute.type.phrase)", key: nil)
    }
    result.isToMany = false
    result.isSumOfDecimals = found == .sum && path.isOfDecimals
    if found == .count || found == .average || found == .sum { result.end = .number }
    return result
  }

  // MARK: Errors

  /// The error about a key that an entity does not have.
  private func unknown(_ key: String, of entity: ResolvedEntity, whole: [String]) -> ModelError {
    if entity.fetchedProperties[key] != nil {
      return mismatch("\(entity.name).\(key) is a fetched property, which no predicate can read", key: key)
    }
    let function = PredicateFunction.named(key)
    let hint = function?.argumentCount == 0 && whole.count == 1 ? "; the function is written \(key)()" : nil
    let place = whole.count > 1 ? " (in \(joined(whole)))" : ""
    return ModelError(
      .predicateMismatch, message: entity.noProperty(key, at: place, hint: hint), entity: entity.name, property: key)
  }

  /// The path as a text.
  private func joined(_ path: [String]) -> String { path.joined(separator: ".") }

  /// The way to call a method of Foundation that was written as a key.
  private static func call(of key: String, on attribute: AttributeDescription) -> String {
    guard let method = PredicateFunction.method(key), method.argumentCount == 1 else { return "" }
    return "; write FUNCTION(\(attribute.name), \"\(method.rawValue)\")"
  }

  /// An error with code `.predicateMismatch`.
  private func mismatch(_ message: String, key: String?) -> ModelError {
    ModelError(.predicateMismatch, message: message, property: key)
  }
}

extension PathResolver.Path {
  /// Whether the path ends at a transformable value, whose keys only evaluation knows.
  fileprivate var isTransformable: Bool {
    if case .attribute(let attribute) = end {
      attribute.type == .transformable || attribute.type == .undefined
    } else {
      false
    }
  }
}

extension PathResolver.Path {
  /// Whether the path ends at decimal values.
  var isOfDecimals: Bool { if case .attribute(let attribute) = end { attribute.type == .decimal } else { false } }
}

extension ResolvedModel {
  /// Whether the values at a key path are decimals. Throws `.predicateMismatch` for unknown keys.
  package func isOfDecimals(_ keyPath: [String], from entity: ResolvedEntity) throws(ModelError) -> Bool {
    try PathResolver(model: self).resolve(keyPath, from: entity).isOfDecimals
  }

  /// Whether a key path ends in the sum of decimals. Throws `.predicateMismatch` for unknown keys.
  package func isSumOfDecimals(_ keyPath: [String], from entity: ResolvedEntity) throws(ModelError) -> Bool {
    try PathResolver(model: self).resolve(keyPath, from: entity).isSumOfDecimals
  }
}

extension ResolvedModel {
  /// Whether a key path ends at several values. Throws `.predicateMismatch` for unknown keys.
  package func isToMany(_ keyPath: [String], from entity: ResolvedEntity) throws(ModelError) -> Bool {
    try PathResolver(model: self).resolve(keyPath, from: entity).isToMany
  }
}

extension ResolvedModel {
  /// Checks that a key path resolves from an entity, including operators such as `@count`.
  ///
  /// Throws `.predicateMismatch` that names the unknown key.
  package func check(keyPath: String, from entity: ResolvedEntity) throws(ModelError) {
    _ = try PathResolver(model: self).resolve(TextLimits.keys(of: keyPath), from: entity)
  }
}
