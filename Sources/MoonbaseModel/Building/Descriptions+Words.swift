extension AttributeDescription {
  /// A copy that must have a value, with this default.
  public func required(default value: Value = .null) -> Self {
    with {
      $0.isOptional = false
      $0.defaultValue = value
    }
  }

  /// A copy with this default value.
  public func defaulting(to value: Value) -> Self { with { $0.defaultValue = value } }

  /// A copy that is never written to a store.
  public func transient() -> Self { with { $0.isTransient = true } }

  /// A copy whose number or date must lie between two bounds, inclusive.
  public func between(_ minimum: Value, _ maximum: Value) -> Self {
    with {
      $0.validation.minimum = minimum
      $0.validation.maximum = maximum
    }
  }

  /// A copy whose string must have a length in this range, in characters.
  public func length(_ range: ClosedRange<Int>) -> Self {
    with {
      $0.validation.minimumLength = range.lowerBound
      $0.validation.maximumLength = range.upperBound
    }
  }

  /// A copy whose whole string must match a regular expression.
  public func matching(_ pattern: String) -> Self { with { $0.validation.regularExpression = pattern } }

  /// A copy whose value must equal one of these values: `oneOf("new", "old")`.
  public func oneOf(_ values: Value...) -> Self { with { $0.validation.allowedValues = values } }

  /// A copy whose value must equal one of these values: `oneOf(["new", "old"])`.
  public func oneOf(_ values: [Value]) -> Self { with { $0.validation.allowedValues = values } }

  /// A copy whose value has this type in generated Swift code.
  public func swiftType(_ name: String) -> Self { with { $0.swiftTypeName = name } }

  /// A copy whose values a transformer stores as bytes. `class` names the required class of the values.
  public func transformed(by transformer: String, class className: String? = nil) -> Self {
    with {
      $0.valueTransformerName = transformer
      $0.valueClassName = className
    }
  }
}

extension RelationshipDescription {
  /// A copy that must have a destination.
  public func required() -> Self { with { $0.isOptional = false } }

  /// A copy that keeps its destinations in order.
  public func ordered() -> Self { with { $0.isOrdered = true } }

  /// A copy with bounds for the number of destinations. A maximum of 0 means no upper bound.
  public func count(atLeast minimum: Int = 0, atMost maximum: Int) -> Self {
    with {
      $0.minCount = minimum
      $0.maxCount = maximum
    }
  }

  /// A copy with a delete rule, which says what happens to the destinations when an object is deleted.
  public func onDelete(_ rule: DeleteRule) -> Self { with { $0.deleteRule = rule } }
}

extension FetchIndexDescription {
  /// An index over properties. A minus before a name makes the order descending.
  public init(_ name: String, on properties: String...) {
    let elements = properties.map { property in
      var element = Element(property.hasPrefix("-") ? String(property.dropFirst()) : property)
      element.isAscending = !property.hasPrefix("-")
      return element
    }
    self.init(name, elements: elements)
  }
}
