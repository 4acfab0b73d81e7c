import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel

/// The closures that call a derived attribute's functions in Lua.
extension DomainBuilder {
  /// A derived attribute of the graph from its declaration: a view of a shadow attribute, or functions `get` and `set`.
  func make(_ derived: ExtensionDeclaration.Derived, of entity: String, in domain: ExtensionRegistry) throws
    -> DerivedAttribute
  {
    var result = DerivedAttribute(
      derived.name, type: derived.type, ownInputs: ownInputs(of: derived, entity: entity), inputs: derived.inputs,
      shadow: derived.shadow,
      readPolicy: derived.readsEarly ? .preCalculated : .onDemand,
      writePolicy: derived.writesLate ? .delayed : .immediate, get: { _ in .null })
    if let shadow = derived.shadow, let transformer = derived.transformer.flatMap({ domain.transformer($0) }) {
      let valueClass = transformer.valueClassName.flatMap { domain.valueClasses[$0] }
      result.valueClass = valueClass
      setShadow(shadow, transformer: transformer, valueClass: valueClass, of: &result)
    } else if let get = derived.get {
      result.get = try getter(get, of: derived, entity: entity)
    }
    if let set = derived.set { result.set = setter(set) }
    return result
  }

  /// The object's own attributes, if the value depends on them alone. A function that receives objects may read others.
  /// The graph then recomputes the attribute only if one of these changes; nil means any change.
  private func ownInputs(of derived: ExtensionDeclaration.Derived, entity: String) -> [String]? {
    if let shadow = derived.shadow { return [shadow] }
    guard let inputs = derived.inputs, !derived.passesObject else { return nil }
    let owner = model.entity(entity)
    return inputs.allSatisfy { owner?.property($0)?.attribute != nil } ? inputs : nil
  }

  /// Makes the attribute a view of a shadow attribute, which stores the transformed value.
  ///
  /// Reading calls the transformer's reverse with the stored value; assigning calls its transform. Throws
  /// `.invalidValue` if a direction returns nothing for a value, or a value that is not of the declared class.
  private func setShadow(
    _ shadow: String, transformer: ValueTransformer, valueClass: ValueClass?, of result: inout DerivedAttribute
  ) {
    result.get = { object in
      let stored = try object.value(forKey: shadow)
      guard !stored.isNull, let reverse = transformer.reverseTransformedValue else { return .null }
      let value = try reverse(stored)
      guard !value.isNull else { throw Self.lost(transformer.gaveNothing(.reverse, for: shadow)) }
      if let valueClass, try !valueClass.contains(value) {
        throw Self.lost(transformer.gave(value, in: .reverse, insteadOf: "a value of its class \(valueClass.name)"))
      }
      return value
    }
    let kept: (Value, ManagedObject) throws -> Value = { value, object in
      guard !value.isNull else { return .null }
      let stored = try transformer.transformedValue(value)
      guard !stored.isNull else { throw Self.lost(transformer.gaveNothing(.transform, for: "a value")) }
      return Self.fitting(stored, as: object.entity.property(shadow)?.attributeType)
    }
    result.shadowValue = kept
    result.set = { value, object in try object.setValue(kept(value, object), forKey: shadow) }
  }

  /// The error of a transformer that would lose a value.
  private static func lost(_ message: String) -> ScriptError { ScriptError(.invalidValue, message: message) }

  /// A transformer's string is bytes, converted to text for a shadow attribute of text. Bytes that are not UTF-8 stay
  /// data, which the attribute then refuses.
  private static func fitting(_ value: Value, as type: AttributeType?) -> Value {
    guard type != .binaryData, case .data(let bytes) = value, let text = String(validating: bytes, as: UTF8.self) else {
      return value
    }
    return .string(text)
  }

  /// A closure that computes the value. Without `inputs` the function receives the object alone, else the inputs.
  ///
  ///
  /// The result is converted for the attribute's type and checked against it. A wrong result throws `.invalidRequest`
  /// with the place of the function.
  private func getter(_ function: LuaFunction, of derived: ExtensionDeclaration.Derived, entity: String) throws
    -> (ManagedObject) throws -> Value
  {
    let attribute = model.entity(entity)?.property(derived.name)?.attribute
    let type = attribute?.type
    guard let inputs = try DerivedInputs(derived, of: entity, in: model) else {
      let call = LuaFastCall(function, parameters: 1)
      return { [types] object in
        let scripts = try types.openDomain()
        let handle = try scripts.types.type(of: object.entity)
        let value = try call.run {
          try $0.set(0, object: object, as: handle)
        } reading: { result in
          try function.checking { try scripts.graphValue(from: result, for: type) }
        }
        return try function.checking { try attribute?.computed(value) ?? value }
      }
    }
    let call = LuaFastCall(function, parameters: inputs.count)
    return { [types] object in
      let scripts = try types.openDomain()
      let value: Value?
      switch try inputs.cells(of: object) {
      case .missing: return .null
      case .call:
        value = try call.run {
          try inputs.set($0, toCellsOf: object, types)
        } reading: { result in
          try function.checking { try scripts.graphValue(from: result, for: type) }
        }
      case .none:
        value = try inputs.withValues(of: object) { values in
          try call.run {
            try inputs.set($0, to: values, of: object, in: scripts)
          } reading: { result in
            try function.checking { try scripts.graphValue(from: result, for: type) }
          }
        }
      }
      guard let value else { return .null }
      if value.needsNoCheck(for: type) { return value }
      return try function.checking { try attribute?.computed(value) ?? value }
    }
  }

  /// A closure that calls `set(value, object)`. The results of the function are ignored.
  private func setter(_ function: LuaFunction) -> (Value, ManagedObject) throws -> Void {
    let call = LuaFastCall(function, parameters: 2)
    return { [types] value, object in
      let scripts = try types.openDomain()
      let handle = try scripts.types.type(of: object.entity)
      try call.run {
        try scripts.setArgument(0, of: $0, to: value)
        try $0.set(1, object: object, as: handle)
      } reading: { _ in
      }
    }
  }
}

extension Value {
  /// Whether an attribute of this type accepts the value unchanged. Skips the check in the most frequent cases. False
  /// only means that a check is needed.
  func needsNoCheck(for type: AttributeType?) -> Bool {
    switch (type, self) {
    case (.integer64, .int), (.string, .string), (.boolean, .bool), (_, .null): true
    case (.double, .double(let number)): number.isFinite
    default: false
    }
  }
}

extension AttributeDescription {
  /// A computed value in the attribute's type. NaN may be computed but not stored. Throws `.invalidValue` and others of
  /// `checked(_:)` for a value of another type.
  func computed(_ value: Value) throws -> Value {
    if case .double(let number) = value, number.isNaN, type == .double || type == .float { return value }
    return try checked(value)
  }
}
