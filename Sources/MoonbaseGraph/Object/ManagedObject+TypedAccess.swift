public import MoonbaseModel
public import MoonbasePlatform

/// Access to text and bytes in place, without a `String` or `Data`.
///
/// ```swift
/// let length = person.withText(Person.name) { $0.count } ?? 0
/// ```
extension TypedObject where Self: ManagedObject {
  /// Passes the UTF-8 of a text to `body`, which must not keep it; returns nil without a text. Errors are kept as by
  /// the subscript.
  public func withText<Result>(
    _ attribute: Attribute<Self, String>, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result? {
    try withContents(ofSymbol: attribute.symbol, .text, body)
  }

  /// Passes the UTF-8 of a text to `body`, which must not keep it; returns nil without a text. Errors are kept as by
  /// the subscript.
  public func withText<Result>(
    _ attribute: Attribute<Self, String?>, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result? {
    try withContents(ofSymbol: attribute.symbol, .text, body)
  }

  /// Passes bytes to `body`, which must not keep them; returns nil without bytes. Errors are kept as by the subscript.
  public func withBytes<Result>(
    _ attribute: Attribute<Self, Data>, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result? {
    try withContents(ofSymbol: attribute.symbol, .data, body)
  }

  /// Passes bytes to `body`, which must not keep them; returns nil without bytes. Errors are kept as by the subscript.
  public func withBytes<Result>(
    _ attribute: Attribute<Self, Data?>, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result? {
    try withContents(ofSymbol: attribute.symbol, .data, body)
  }
}

extension ManagedObject {
  /// Passes the bytes of a text or of data to `body`; returns nil if the slot has none. Errors are kept by the context.
  fileprivate final func withContents<Result>(
    ofSymbol symbol: UInt32, _ kind: RawCell.Kind, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result? {
    let cell = cell(ofSymbol: symbol)
    // Retains the row while `body` runs, whatever `body` does with the object.
    if cell.kind == kind { return try withExtendedLifetime(page) { try body(cell.bytes) } }
    if cell.kind == .null { return nil }
    switch (value(ofSymbol: symbol), kind) {
    case (.null, _): return nil
    case (.string(var text), .text): return try text.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
    case (.data(let data), .data): return try data.withUnsafeBytes(body)
    case (let value, _):
      keepMismatch(value, ofSymbol: symbol, type: kind == .text ? String.self : Data.self)
      return nil
    }
  }
}

extension TypedObject where Self: ManagedObject {
  /// The value of an attribute without the subclass's accessor, for use within the accessor.
  ///
  /// A refused value leaves the old value, and a value that cannot be read is nil or the type's zero. The context keeps
  /// the error in `pendingErrors`, and the next save fails with it.
  @inlinable
  public subscript<T: AttributeValue>(attribute: Attribute<Self, T>) -> T {
    get {
      let cell = cell(ofSymbol: attribute.symbol)
      // The bytes belong to the row, which the object retains.
      if let result = withExtendedLifetime(self, { T.read(cell: cell) }) { return result }
      if cell.kind == .null { return T.read(Value.null) ?? T.defaultWhenNull }
      let value = value(ofSymbol: attribute.symbol)
      if let result = T.read(value) { return result }
      if !value.isNull { keepMismatch(value, ofSymbol: attribute.symbol, type: T.self) }
      return T.defaultWhenNull
    }
    set {
      if !newValue.putCell({ setCell($0, ofSymbol: attribute.symbol) }) {
        setValue(newValue.attributeValue, ofSymbol: attribute.symbol)
      }
    }
  }

  /// The destination of a to-one relationship.
  public subscript<D: ManagedObject>(relationship: ToOne<Self, D>) -> D? {
    get { keepingErrors(or: nil) { try object(forKey: relationship.relationshipName) as? D } }
    set { keepingErrors(or: ()) { try setObject(newValue, forKey: relationship.relationshipName) } }
  }

  /// The destinations of a to-many relationship.
  public subscript<D: ManagedObject>(relationship: ToMany<Self, D>) -> [D] {
    get { keepingErrors(or: []) { try objects(forKey: relationship.relationshipName).compactMap { $0 as? D } } }
    set { keepingErrors(or: ()) { try setObjects(newValue, forKey: relationship.relationshipName) } }
  }
}

/// The untyped part of typed access.
extension ManagedObject {
  // Functions that do not depend on the value's type are here; the rest is specialized at its use.

  /// The cell of the slot, without an intermediate `Value`; null if it cannot be read.
  @usableFromInline
  final func cell(ofSymbol number: UInt32) -> RawCell {
    guard let slot = table._withUnsafeGuaranteedRef({ $0.slot(Symbol(number: number)) }) else {
      return RawCell(.other)
    }
    guard isSimple(slot) else { return keptValue(slot).map(RawCell.init(of:)) ?? RawCell(.other) }
    return state.contains(.fault) && !fireWithoutHooks() ? firedCell(slot) : currentRawCell(slot)
  }

  /// Errors are kept by the context.
  @inline(never)  // once for each object
  private final func firedCell(_ slot: Slot) -> RawCell {
    keepingErrors(or: RawCell(.null)) {
      try fireFault()
      // A hook of the awakening may have changed the slot's kind.
      return isSimple(slot) ? currentRawCell(slot) : RawCell(.other)
    }
  }

  /// The value; null if it cannot be read.
  @usableFromInline
  final func value(ofSymbol symbol: UInt32) -> Value {
    keepingErrors(or: .null) {
      let slot = try slot(ofSymbol: symbol)
      return try keptValue(slot) ?? read(slot)
    }
  }

  /// Sets the cell; false without effect if `setValue` has to be called.
  @usableFromInline
  final func setCell(_ cell: RawCell, ofSymbol number: UInt32) -> Bool {
    guard let slot = table._withUnsafeGuaranteedRef({ $0.slot(Symbol(number: number)) }) else { return false }
    return setFast(cell, slot: slot)
  }

  /// Sets the value; an error is kept as by the subscript.
  @usableFromInline
  final func setValue(_ value: Value, ofSymbol symbol: UInt32) {
    keepingErrors(or: ()) { try write(value, slot: slot(ofSymbol: symbol)) }
  }

  /// Keeps the error of a value that the key's type cannot read.
  @usableFromInline
  final func keepMismatch(_ value: Value, ofSymbol symbol: UInt32, type: any AttributeValue.Type) {
    keepingErrors(or: ()) {
      throw refused(
        try slot(ofSymbol: symbol), value: value, reason: "it is \(value.typeDescription), which is no \(type)")
    }
  }

  /// Throws `.unknownName` for a name that the entity lacks.
  private func slot(ofSymbol number: UInt32) throws -> Int {
    let symbol = Symbol(number: number)
    guard let slot = table._withUnsafeGuaranteedRef({ $0.slot(symbol) }) else {
      throw GraphError.unknownProperty(symbol.name, of: entity, id: objectID)
    }
    return slot
  }
}

/// Accessors that take values of Swift types: `person.setValue(age, forKey: "age")`.
extension ManagedObject {
  /// Removes the value of a property by name: `person.setValue(nil, forKey: "nickname")`.
  public final func setValue(_ nothing: Never?, forKey key: String) throws {
    try setValue(.null, forKey: key)
  }

  /// Removes the value at the end of a key path: `person.setValue(nil, forKeyPath: "department.floor")`.
  public final func setValue(_ nothing: Never?, forKeyPath path: String) throws {
    try setValue(.null, forKeyPath: path)
  }

  /// Sets the value of a property by name (`setValue(_:forKey:)` of a `Value`). Conversions to the attribute's type are
  /// those of `Value`.
  @_disfavoredOverload
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
  /// Throws if no extension declares the method, and the errors of the method.
  @_disfavoredOverload
  @discardableResult
  public final func call<each Argument: ValueConvertible>(
    _ name: String, _ arguments: repeat each Argument
  ) throws -> Value {
    try call(name, with: [Value](converting: repeat each arguments))
  }
}

/// Values without accessors, for use within accessors.
extension ManagedObject {
  /// The value of a property without accessors and derivation, as `setPrimitiveValue` sets it.
  public final func primitiveValue(forKey key: String) throws -> Value {
    let slot = try slot(of: key)
    let behavior = try behavior()
    // The getter of a stored attribute may read its former value.
    if !isComputed(slot, behavior) { noteRead(slot) }
    if case .derived = behavior.kind(slot) { return caches[slot]?.value ?? .null }
    return try read(slot, behavior: behavior)
  }

  /// Sets the value of an attribute without recording a change; call `willChangeValue` before and `didChangeValue`
  /// after.
  ///
  /// Without these calls the object does not count as changed, and `willSave` is not called again for it. The context
  /// retains the object, and the next save writes the value. Throws if the value does not fit the attribute's type or
  /// class, for an attribute that the store derives or that a delayed value will overwrite, and for a deleted object.
  /// Type errors have the code `.invalidValue`.
  public final func setPrimitiveValue(_ value: Value, forKey key: String) throws {
    let slot = try slot(of: key)
    let behavior = try behavior()
    try checkMutable()
    if state.contains(.fault) { try fireFault() }
    try checkFree(slot, value: value, behavior: behavior)
    let fitting = try valueOfClass(checked(value, slot: slot), slot: slot, behavior: behavior)
    defer { tellObservers() }
    switch behavior.kind(slot) {
    case .plain, .stored: try setStoredPrimitive(fitting, slot: slot)
    case .derived:
      outdate(slot)
      cache(Cached(value: fitting, reads: .all(of: entity)), slot: slot)
    case .transformable(let transformer), .storedTransformable(_, let transformer):
      try setStoredPrimitive(transformedBytes(of: fitting, slot: slot, transformer: transformer), slot: slot)
      cache(fitting.isNull ? nil : Cached(value: fitting), slot: slot)
    case .opaque, .toOne, .toMany:
      throw refused(slot, value: value, reason: "only attributes have primitive values that can be set")
    case .gone: throw noMore(slot)
    }
  }

  /// Announces a read of an attribute: fires the object's fault. Needed only by accessors that keep values elsewhere.
  public final func willAccessValue(forKey key: String) throws {
    _ = try slot(of: key)
    if state.contains(.fault) { try fireFault() }
  }

  /// Announces that an attribute was read. Does nothing but check the name.
  public final func didAccessValue(forKey key: String) throws { _ = try slot(of: key) }

  /// Announces a change of a primitive value.
  public final func willChangeValue(forKey key: String) throws {
    try willAccessValue(forKey: key)
    materialize()
  }

  /// Announces that a primitive value changed: the object counts as changed.
  public final func didChangeValue(forKey key: String) throws {
    let slot = try slot(of: key)
    if isAdded(slot) { outdate(slot) } else { rememberValue(slot) }
    context?.observations.changeEvent?.noteChange(of: self)
    didChange(slot)
    tellObservers()
  }
}

extension ManagedObject {
  /// A property accessor of a subclass, used by access by key, by predicates and by scripts.
  ///
  /// A subclass lists its accessors in `customAccessors`. Access by key then runs the same code as access in Swift.
  public struct CustomAccessor {
    /// The name of the property.
    let key: String
    /// Reads the property of an object of the class.
    let get: (ManagedObject) throws -> Value
    /// Sets the property.
    let set: (ManagedObject, Value) throws -> Void

    /// Makes an accessor for objects of a subclass. Both closures may throw; the caller receives their errors. An
    /// object of another class throws `.invalidObject`.
    public init<Owner: ManagedObject>(
      _ key: String, of type: Owner.Type = Owner.self, get: @escaping (Owner) throws -> Value,
      set: @escaping (Owner, Value) throws -> Void
    ) {
      self.key = key
      self.get = { object in try get(Self.cast(object, key: key)) }
      self.set = { object, value in try set(Self.cast(object, key: key), value) }
    }

    /// The object as an instance of the class, else an error that names the property.
    private static func cast<Owner: ManagedObject>(_ object: ManagedObject, key: String) throws -> Owner {
      guard let owner = object as? Owner else {
        throw GraphError(
          .invalidObject, message: "\(object.entity.name).\(key): its accessor is for \(Owner.self)", property: key)
      }
      return owner
    }
  }
}
