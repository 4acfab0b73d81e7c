package import MoonbaseModel

/// Values that a store derives and that exceed the attribute's type: a large sum or count. The code is
/// `.numberTooSmall` or `.numberTooLarge`.
extension ResolvedProperty {
  /// The error of the save that derived such a value; nil if the value fits.
  package func misfit(_ value: Value, of id: ManagedObjectID) -> GraphError? {
    guard let attribute, let range = attribute.type.range, !range.holds(value) else { return nil }
    let isNegative = (value.asDouble ?? 0) < 0
    let reason =
      "cannot be derived: \(attribute.derivationExpression ?? "its derivation") gives \(value.beginning ?? "a value"), which does not fit "
      + "\(attribute.type.phrase) (\(range)); make its type wider, or what it is derived from smaller"
    var error = GraphError(
      isNegative ? .numberTooSmall : .numberTooLarge, message: "\(id.entityName).\(name) \(reason); nothing was saved",
      entity: id.entityName, property: name, objectID: id, value: value)
    error.reason = reason
    return error
  }
}

/// For deciding whether values must be read after a save.
extension StoredDerivation {
  /// Whether the value may exceed an attribute's type. True for sums and counts in narrow types.
  func mayMisfit(_ attribute: AttributeDescription?) -> Bool {
    guard case .collection(_, _, let function) = result else { return false }
    return switch attribute?.type {
    case .integer16, .integer32, .float: true
    case .integer64: function == .sum
    default: false
    }
  }
}

/// The range of a numeric type that holds less than its column.
///
/// For messages, too.
private enum NumberRange: CustomStringConvertible {
  /// The integers of a type.
  case integers(ClosedRange<Int64>)
  /// The finite numbers of `Float`.
  case singles

  /// Values other than numbers are checked elsewhere. A fraction does not fit integers.
  func holds(_ value: Value) -> Bool {
    switch (self, value) {
    case (.integers(let range), .int(let number)): range.contains(number)
    case (.integers(let range), .double(let number)): Int64(exactly: number).map(range.contains) ?? false
    case (.singles, .double(let number)): Float(number).isFinite || !number.isFinite
    default: true
    }
  }

  /// For example "-32768 to 32767".
  var description: String {
    switch self {
    case .integers(let range): "\(range.lowerBound) to \(range.upperBound)"
    case .singles: "to \(Float.greatestFiniteMagnitude)"
    }
  }
}

/// Ranges of types.
extension AttributeType {
  /// Nil for a type without a range of its own.
  fileprivate var range: NumberRange? {
    switch self {
    case .integer16: .integers(Int64(Int16.min)...Int64(Int16.max))
    case .integer32: .integers(Int64(Int32.min)...Int64(Int32.max))
    case .integer64: .integers(Int64.min...Int64.max)
    case .float: .singles
    default: nil
    }
  }
}
