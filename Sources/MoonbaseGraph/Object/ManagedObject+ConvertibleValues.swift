public import MoonbaseModel

/// Accessors that take values of Swift types: `person.setValue(age, forKey: "age")`.
extension ManagedObject {
  /// Sets the value of a property by name (`setValue(_:forKey:)` of a `Value`).
  @_disfavoredOverload
  /// Conversions to the attribute's type are those of `Value`.
  public final func setValue(_ value: some ValueConvertible, forKey key: String) throws {
    try setValue(value.attributeValue, forKey: key)
  }

  /// Sets the value at the end of a key path (`setValue(_:forKeyPath:)` of a `Value`).
  @_disfavoredOverload
  public final func setValue(_ value: some ValueConvertible, forKeyPath path: String) throws {
    try setValue(value.attributeValue, forKeyPath: path)
  }

  /// Sets values by name, all or none. `nil` removes a value.
  ///
  /// ```swift
  /// try person.setValuesForKeys(["name": name, "age": age, "department": department, "born": nil])
  /// ```
  @_disfavoredOverload
  public final func setValuesForKeys(_ values: ConvertibleValues) throws {
    try setValuesForKeys([String: Value](values))
  }

  /// Sets the value of an attribute without recording a change (`setPrimitiveValue(_:forKey:)` of a `Value`).
  @_disfavoredOverload
  public final func setPrimitiveValue(_ value: some ValueConvertible, forKey key: String) throws {
    try setPrimitiveValue(value.attributeValue, forKey: key)
  }

  /// The issues that a value would have if it were assigned (`validate(_:forKey:)` of a `Value`). The value is not
  /// assigned. Empty if the value is valid.
  @_disfavoredOverload
  public final func validate(_ value: some ValueConvertible, forKey key: String) throws -> [GraphError] {
    try validate(value.attributeValue, forKey: key)
  }

  /// Calls a method that an extension declares (`call(_:_:)` of `Value`s).
  @_disfavoredOverload
  /// Throws if no extension declares the method, and the errors of the method.
  @discardableResult
  public final func call<each Argument: ValueConvertible>(
    _ name: String, _ arguments: repeat each Argument
  ) throws -> Value {
    try call(name, with: [Value](converting: repeat each arguments))
  }
}
