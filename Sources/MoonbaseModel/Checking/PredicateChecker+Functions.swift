import MoonbasePlatform

/// Checks calls: the function exists, and its arguments have the right types.
extension PredicateChecker {
  /// Checks a call. Throws `.predicateMismatch` for an unknown function, another number of
  /// arguments, and an argument of the wrong type.
  func checkCall(_ name: String, arguments: [Expression]) throws(ModelError) {
    guard let function = PredicateFunction(rawValue: name) else {
      let hint = suggestion(for: name, among: PredicateFunction.allCases.map(\.rawValue))
      throw mismatch("there is no function \(name)\(hint)")
    }
    guard arguments.count == function.argumentCount else {
      throw mismatch("\(name) takes \(function.arguments), not \(arguments.count)")
    }
    for (position, argument) in arguments.enumerated() {
      let side = try side(argument)
      switch function.argumentKind(position) {
      case .any: break
      case .collection:
        try checkCollection(argument, side: side, of: name)
        if function == .element { try checkOrder(argument, position: arguments[1]) }
      case .typeName: try checkTypeName(argument)
      case .scalar(let types):
        if side.isToMany {
          throw mismatch(
            "to-many key not allowed here: \(shown(argument)) leads to several values, but \(name) takes one")
        }
        guard types.contains(side.type) || side.type == .unknown || side.type == .null else {
          throw mismatch("\(name) has no meaning for \(shown(argument)), which is \(side.type.phrase)")
        }
      }
    }
  }

  /// Refuses an index into an unordered relationship.
  ///
  /// Positions such as `FIRST` and indexes need an order; `SIZE` does not.
  private func checkOrder(_ collection: Expression, position: Expression) throws(ModelError) {
    if case .function(PredicateFunction.size.rawValue, _) = position { return }
    guard let path = try path(of: collection), let name = path.unordered else { return }
    throw mismatch(
      "\(shown(collection))[\(shown(position))] has no meaning: the relationship \(name) is not ordered; make it so, or "
        + "write ANY, ALL, [SIZE] or SUBQUERY")
  }

  /// Throws if an argument is no collection.
  private func checkCollection(_ argument: Expression, side: Side, of name: String) throws(ModelError) {
    guard !side.isToMany, side.type != .unknown, side.type != .null else { return }
    throw mismatch("\(name) needs a collection, but \(shown(argument)) is \(side.type.phrase)")
  }

  /// Throws if the second argument of `CAST` is no known type.
  private func checkTypeName(_ argument: Expression) throws(ModelError) {
    guard case .constant(let value) = argument else { return }
    if case .string(let name) = value, CastType(name: name) != nil { return }
    let hint = suggestion(for: value.text ?? "", among: CastType.allCases.map(\.rawValue))
    throw mismatch("CAST has no type \(argument)\(hint)")
  }
}

/// The kind of argument that a function accepts.
private enum ArgumentKind {
  /// A value of any type.
  case any
  /// Several values or objects.
  case collection
  /// The name of a type that CAST knows.
  case typeName
  /// A single value of one of these types.
  case scalar([CheckedType])
}

extension PredicateFunction {
  /// The kind of argument at a position.
  fileprivate func argumentKind(_ position: Int) -> ArgumentKind {
    if takesCollection { return .collection }
    switch self {
    case .cast: return position == 1 ? .typeName : .any
    case .element: return position == 0 ? .collection : .any
    case .noIndex, .integerValue, .doubleValue, .boolValue, .stringValue: return .any
    case .uppercase, .lowercase, .canonical, .length, .uppercaseString, .lowercaseString, .appendString,
      .capitalizedString:
      return .scalar([.string])
    case .absoluteString, .scheme, .host, .port, .path, .query, .fragment, .lastPathComponent, .pathExtension:
      return .scalar([.uri])
    case .uuidString: return .scalar([.uuid])
    case .substringFrom, .substringTo: return .scalar(position == 0 ? [.string] : [.number, .boolean])
    case .add, .subtract: return .scalar([.number, .boolean, .date])
    case .addInterval: return .scalar(position == 0 ? [.date] : [.number, .boolean])
    case .intervalSinceReferenceDate, .intervalSince1970: return .scalar([.date])
    default: return .scalar([.number, .boolean])
    }
  }

  /// The static type of the function's result; unknown if it depends on the arguments.
  var resultType: CheckedType {
    switch self {
    case .uppercase, .lowercase, .canonical, .uppercaseString, .lowercaseString, .appendString, .substringFrom,
      .substringTo, .stringValue, .capitalizedString, .absoluteString, .scheme, .host, .path, .query, .fragment,
      .lastPathComponent, .pathExtension, .uuidString:
      .string
    case .now, .addInterval: .date
    case .cast, .element, .noIndex, .min, .max, .mode, .first, .last, .size, .add, .subtract: .unknown
    case .boolValue: .boolean
    default: .number
    }
  }
}
