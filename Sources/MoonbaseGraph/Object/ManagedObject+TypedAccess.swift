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
