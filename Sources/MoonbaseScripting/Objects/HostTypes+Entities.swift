import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

extension HostTypes {
  /// The type of an entity's objects: a slot for each property, and the common methods of objects. Entities of the same
  /// shape share a type, so everything else is read from the object.
  ///
  /// `object.name` in Lua goes through the first path that applies: the `reader` in C's frame for plain cells, the
  /// getter of the slot, the properties that extensions added, the methods of objects, and `missing` for names that
  /// only this object's entity knows.
  func describe(_ entity: ResolvedEntity) -> LuaHostType<ManagedObject> {
    let type = LuaHostType<ManagedObject>(entity.name)
    type.usualWeight = 64  // the context weighs what its objects hold
    type.properties(
      entity.properties.map(\.name),
      get: { [unowned self] object, slot, call in try get(object, slot: slot, call: &call) },
      set: { [unowned self] object, slot, call in try set(object, slot: slot, call: &call) })
    type.reader = reader
    for name in entity.fetchedProperties.keys.sorted() { describeFetched(name, of: type) }
    for property in entity.addedProperties {
      let access = access(to: property.name)
      type.property(property.name, get: access.get, set: access.set)
    }
    for method in objectMethods {
      if Self.namesOfPropertiesOfObjects.contains(method.name) {
        describeProperty(method, of: type, entity)
      } else {
        type.method(method.name, upTo: method.count, method.body)
      }
    }
    describeWhole(type)
    let methods = objectMethods.map(\.name)
    type.missing { [unowned self] object, key, writing, call in
      // Contexts of this state may have extensions of different generations.
      if let added = object.entity.property(key) {
        guard writing else { return try get(object, slot: added.slot, call: &call) }
        return try call.withoutFirst { call in try set(object, slot: added.slot, call: &call) }
      }
      let declared = try openDomain().extensionMethod(key, of: object)
      if !writing, let declared { return try call.return(declared) }
      if declared != nil || writing && methods.contains(key) {
        let owner = declared == nil ? "every object" : "an extension"
        throw ScriptError(
          .invalidRequest,
          message: "\(key) is a method of \(owner), and no property of \(object.entity.name): it is only called",
          entity: object.entity.name)
      }
      let known = try writing || object.managedObjectContext == nil ? [] : object.methodNames()
      var error = GraphError.unknownProperty(
        key, of: object.entity, id: object.objectID, or: writing ? [] : methods + known)
      if !writing, let call = Self.contextCalls[key] { error.message += "; write \(call)" }
      throw error
    }
    return type
  }

  /// Reads a slot, or a cached derived value, without access to the domain.
  ///
  /// Returns 0 with the value as the call's result, or -1 to continue with the general getter.
  private var reader: LuaPropertyReader {
    // The state retains this object as long as types with the reader exist.
    LuaPropertyReader(context: Unmanaged.passUnretained(self).toOpaque()) { object, slot, frame, types in
      guard let types else { return -1 }
      return Unmanaged<ManagedObject>.fromOpaque(object)._withUnsafeGuaranteedRef { object in
        Unmanaged<HostTypes>.fromOpaque(types)._withUnsafeGuaranteedRef { types in
          var call = LuaCall(ofReader: frame)
          do {
            let cell = try object.rawCell(at: Int(slot))
            if cell.kind != .other { return try call.return(cell, types) ? 0 : -1 }
            // Attributes added by extensions have other slots in the type than in the object.
            guard object.hasModelSlot(Int(slot)), let value = object.valueAtHand(at: Int(slot)) else { return -1 }
            return try call.return(value, types) ? 0 : -1
          } catch {
            return call.fail(error)
          }
        }
      }
    }
  }

  /// The names of properties of objects, contexts and IDs. Scripts may also call them as methods, as in
  /// `object:has_changes()`.
  static let namesOfPropertiesOfObjects = ["has_changes", "entity"]

  /// A property of the entity with this name takes precedence, even if an extension adds it later. Reading gives the
  /// method's result, as `object.has_changes`; assigning throws `.invalidRequest`.
  private func describeProperty(_ method: ObjectMethod, of type: LuaHostType<ManagedObject>, _ entity: ResolvedEntity) {
    let name = method.name
    guard entity.property(name) == nil, entity.fetchedProperties[name] == nil else { return }
    type.property(
      name,
      get: { [unowned self] object, call in
        guard let added = object.entity.property(name) else { return try method.body(object, &call) }
        try get(object, slot: added.slot, call: &call)
      },
      set: { [unowned self] object, call in
        guard let added = object.entity.property(name) else {
          throw ScriptError(
            .invalidRequest,
            message:
              "\(name) of an object tells about it, and is no property of \(object.entity.name): it is only read",
            entity: object.entity.name)
        }
        try set(object, slot: added.slot, call: &call)
      })
  }

  /// Suggestions for method names of other libraries: the corresponding calls of the context.
  private static let contextCalls = [
    "delete": "context:delete(object)", "remove": "context:delete(object)", "destroy": "context:delete(object)",
    "save": "context:save()", "refresh": "context:refresh(object)",
  ]

  /// A fetched property is read as a list of the results of its fetch.
  private func describeFetched(_ name: String, of type: LuaHostType<ManagedObject>) {
    type.property(
      name,
      get: { [unowned self] object, call in
        try call.return(.table(try openDomain().list(of: object.fetchedObjects(forKey: name))))
      }, set: { object, _ in throw GraphError.fetchedProperty(name, of: object.entity) })
  }

  /// The accessors of an attribute that an extension added. The attribute may be replaced or removed later. The slot is
  /// looked up at each access, because a reload may move it. The symbol is made once.
  private func access(to name: String) -> (
    get: (ManagedObject, inout LuaCall) throws -> Void, set: (ManagedObject, inout LuaCall) throws -> Void
  ) {
    let symbol = Symbol(name)
    func slot(of object: ManagedObject) throws -> Slot {
      if let slot = object.entity.slot(symbol) { return slot }
      throw GraphError.unknownProperty(name, of: object.entity, id: object.objectID)
    }
    return (
      get: { [unowned self] object, call in
        if let value = object.valueAtHand(of: symbol), try call.return(value, self) { return }
        if let slot = object.entity.slot(symbol) { return try get(object, slot: slot, call: &call) }
        // A property or method hidden by the attribute is visible again.
        if Self.namesOfPropertiesOfObjects.contains(name),
          let method = objectMethods.first(where: { $0.name == name })
        {
          return try method.body(object, &call)
        }
        if let method = objectMethods.first(where: { $0.name == name }) {
          return try call.return(try openDomain().function(method))
        }
        if let method = try openDomain().extensionMethod(name, of: object) {
          return try call.return(method)
        }
        try get(object, slot: slot(of: object), call: &call)
      },
      set: { [unowned self] object, call in try set(object, slot: slot(of: object), call: &call) }
    )
  }

  /// Adds new names to the types of objects after extensions were reloaded. Access to removed names raises an error.
  /// `former` is the model before the reload; entities keep their positions. A type is moved to the entity's new shape,
  /// and handles of existing objects stay valid.
  func adopt(_ model: ResolvedModel, after former: ResolvedModel) throws {
    recent = nil
    for (old, new) in zip(former.entities, model.entities) where old.shape != new.shape {
      guard let type = entities.removeValue(forKey: old.shape) else { continue }
      if entities[new.shape] == nil { entities[new.shape] = type }
      let before = Set(old.addedProperties.map(\.name))
      for name in new.addedProperties.map(\.name) where !before.contains(name) {
        let access = access(to: name)
        try type.learn(name, get: access.get, set: access.set, in: state)
      }
    }
  }

  /// `tostring(object)` shows the values, `pairs(object)` iterates over attributes and to-one relationships. `#object`
  /// throws, since `#` is for relationships.
  private func describeWhole(_ type: LuaHostType<ManagedObject>) {
    type.operator(.text) { call in call.return(try call.object(0, as: ManagedObject.self).description) }
    type.operator(.pairs) { [unowned self] call in
      let object = try call.object(0, as: ManagedObject.self)
      var rest = object.entity.allProperties.filter { $0.relationship?.isToMany != true }[...]
      try call.return(
        try openDomain().state.function { [unowned self] call in
          guard let property = rest.popFirst() else { return call.returnNil() }
          call.return(property.name)
          try get(object, slot: property.slot, call: &call)
        })
    }
    type.operator(.length) { call in
      let name = try call.object(0, as: ManagedObject.self).entity.name
      throw ScriptError(
        .invalidRequest, message: "an object of \(name) has no length: # counts what a to-many relationship of it holds"
      )
    }
  }

  /// Reads a property: a value, a relationship, or the destination object of a to-one relationship, nil without one.
  private func get(_ object: ManagedObject, slot: Slot, call: inout LuaCall) throws {
    let property = object.entity.property(at: slot)
    guard let relationship = property.relationship else {
      return try openDomain().answer(&call, with: object.value(at: slot), of: property, entity: object.entity)
    }
    if relationship.isToMany {
      guard object.managedObjectContext != nil else { throw object.detachedError }
      return try call.return(ToManyBox(object, slot: slot), as: members)
    }
    guard case .objectID(let id) = try object.value(at: slot), object.managedObjectContext != nil else {
      return call.returnNil()
    }
    let destination = try object.destinationObject(id, slot: slot)
    try call.return(destination, as: type(of: destination.entity))
  }

  /// Assigns a property. Numbers, texts and dates go directly into the row if no hook needs to know. A value of another
  /// kind is converted first.
  private func set(_ object: ManagedObject, slot: Slot, call: inout LuaCall) throws {
    let domain = try openDomain()
    let scalar = call.scalar(0)
    if object.writesItsRow, let cell = RawCell(scalar, for: object.attributeType(at: slot), types: self),
      object.setFast(cell, slot: slot)
    {
      return try finish(in: object.managedObjectContext)
    }
    let property = object.entity.property(at: slot)
    let value =
      try Value(scalar, for: property.attributeType, types: self)
      ?? domain.graphValue(from: try call.value(0), for: property, in: object.managedObjectContext)
    try object.setValue(value, slot: slot)
    try finish(in: object.managedObjectContext)
  }

  /// A method that every object has. Its name in Lua, the most arguments, and its body.
  typealias ObjectMethod = (name: String, count: Int, body: (ManagedObject, inout LuaCall) throws -> Void)

  /// The methods of every object, also available as `moonbase.object.NAME(object, ...)`. `count` is the number of
  /// arguments.
  var objectMethods: [ObjectMethod] {
    [
      ("id", 0, { [unowned self] object, call in try openDomain().answer(&call, with: .objectID(object.objectID)) }),
      ("entity", 0, { object, call in call.return(object.entity.name) }),
      (
        "context", 0,
        { [unowned self] object, call in
          try call.return(object.managedObjectContext.map { .object(context.handle($0)) } ?? .nil)
        }
      ),
      ("is_fault", 0, { object, call in call.return(object.isFault) }),
      ("is_inserted", 0, { object, call in call.return(object.isInserted) }),
      ("is_updated", 0, { object, call in call.return(object.isUpdated) }),
      ("is_deleted", 0, { object, call in call.return(object.isDeleted) }),
      ("has_changes", 0, { object, call in call.return(object.hasChanges) }),
      (
        "changed_values", 0,
        { [unowned self] object, call in try openDomain().answer(&call, with: .map(object.changedValues())) }
      ),
      (
        "committed_values", 0,
        { [unowned self] object, call in try openDomain().answer(&call, with: .map(object.committedValues())) }
      ),
      (
        "primitive", 1,
        { [unowned self] object, call in
          let value = try object.primitiveValue(forKey: try call.name(0))
          guard let property = try object.entity.property(call.name(0)) else { return }
          try openDomain().answer(&call, with: value, of: property, entity: object.entity)
        }
      ),
      (
        "set_primitive", 2,
        { [unowned self] object, call in
          let property = try openDomain().property(.text(try call.name(0)), of: object.entity)
          guard call.count > 1 else { throw call.typeError(1, expected: "value") }
          let value = try openDomain().graphValue(
            from: try call.value(1), for: property, in: object.managedObjectContext)
          try object.setPrimitiveValue(value, forKey: property.name)
          try finish(in: object.managedObjectContext)
        }
      ),
      ("will_access", 1, { object, call in try object.willAccessValue(forKey: try call.name(0)) }),
      ("did_access", 1, { object, call in try object.didAccessValue(forKey: try call.name(0)) }),
      ("will_change", 1, { object, call in try object.willChangeValue(forKey: try call.name(0)) }),
      ("did_change", 1, { object, call in try object.didChangeValue(forKey: try call.name(0)) }),
      ("observe", 2, { [unowned self] object, call in try observe(object, call: &call) }),
      ("validate", 2, { [unowned self] object, call in try validate(object, call: &call) }),
    ]
  }

  /// `object:validate()` checks the whole object, `object:validate("age", 12)` a proposed value. Returns true and
  /// warnings, or nil and the error.
  private func validate(_ object: ManagedObject, call: inout LuaCall) throws {
    let domain = try openDomain()
    guard call.count > 0 else {
      var warnings: [GraphError] = []
      try domain.attempt(&call) { warnings = try object.validate() }
      return try returnWarnings(warnings, call: &call)
    }
    let key = try call.name(0)
    guard let property = object.entity.property(key) else {
      throw GraphError.unknownProperty(key, of: object.entity, id: object.objectID)
    }
    guard call.count > 1 else { throw call.typeError(1, expected: "value") }
    let proposed = try call.value(1)
    var warnings: [GraphError] = []
    try domain.attempt(&call) {
      let value: Value
      do {
        value = try domain.graphValue(from: proposed, for: property, in: object.managedObjectContext)
      } catch let error as ScriptError where error.code == .invalidValue {
        // Validating an unsuitable value is not a mistake of the program.
        throw GraphError(
          error.code, message: error.message, entity: object.entity.name, property: key, objectID: object.objectID
        ).causedElsewhere
      }
      warnings = try object.validate(value, forKey: key)
    }
    try returnWarnings(warnings, call: &call)
  }

  /// Returns warnings of rules after `true`.
  private func returnWarnings(_ warnings: [GraphError], call: inout LuaCall) throws {
    if !warnings.isEmpty { try call.return(.table(try openDomain().list(of: warnings))) }
  }
}

extension LuaCall {
  /// Returns a cell of a row. Returns false, without a result, for cells that must be read as values. Bytes are
  /// borrowed from the row and copied by Lua.
  @inline(__always)
  fileprivate mutating func `return`(_ cell: RawCell, _ types: HostTypes) throws -> Bool {
    switch cell.kind {
    case .null: returnNil()
    case .bool: `return`(cell.bool)
    case .int: `return`(cell.int)
    case .double: `return`(cell.double)
    case .text, .data: `return`(borrowed: cell.bytes)
    case .date: try `return`(Date(timeIntervalSinceReferenceDate: cell.double), as: types.date)
    case .other: return false
    }
    return true
  }

  /// Returns a plain value. Returns false, without a result, for other values. Used for values that the object has
  /// computed already.
  fileprivate mutating func `return`(_ value: Value, _ types: HostTypes) throws -> Bool {
    switch value {
    case .null: returnNil()
    case .bool(let truth): `return`(truth)
    case .int(let number): `return`(number)
    case .double(let number): `return`(number)
    case .string(let text): `return`(text)
    case .date(let date): try `return`(date, as: types.date)
    case .decimal(let number): try `return`(number, as: types.decimal)
    case .uuid(let uuid): try `return`(uuid, as: types.uuid)
    default: return false
    }
    return true
  }
}

/// Bytes are borrowed from Lua and valid until the call ends.
extension RawCell {
  /// The cell for a scalar that needs no conversion to a value, in an attribute's type; nil for other scalars, and for
  /// text that is not UTF-8.
  @inline(__always)
  init?(_ scalar: LuaScalar, for type: AttributeType?, types: HostTypes) {
    switch scalar {
    case .none: self.init(.null)
    case .boolean(let truth): self.init(.bool, word: truth ? 1 : 0)
    case .integer(let number): self.init(.int, word: UInt64(bitPattern: number))
    case .number(let number): self.init(.double, word: number.bitPattern)
    case .bytes(let bytes) where type == .binaryData: self.init(.data, bytes: bytes)
    case .bytes(let bytes) where type == .string && bytes.isUTF8: self.init(.text, bytes: bytes)
    case .inline(let value):
      guard let date = value.value(of: types.date) else { return nil }
      self.init(.date, word: date.timeIntervalSinceReferenceDate.bitPattern)
    case .bytes, .other: return nil
    }
  }
}

/// Text is valid UTF-8 or refused; bytes become data only for binary attributes.
extension Value {
  /// The value of a scalar that needs no domain, in an attribute's type; nil for other scalars, and for text that is
  /// not UTF-8.
  init?(_ scalar: LuaScalar, for type: AttributeType?, types: HostTypes) {
    switch scalar {
    case .none: self = .null
    case .boolean(let truth): self = .bool(truth)
    case .integer(let number): self = .int(number)
    case .number(let number): self = .double(number)
    case .bytes(let bytes) where type == .binaryData: self = .data(Data(bytes))
    case .bytes(let bytes):
      guard let text = String(validUTF8: bytes.assumingMemoryBound(to: UInt8.self)) else { return nil }
      self = .string(text)
    case .inline(let value):
      if let date = value.value(of: types.date) {
        self = .date(date)
      } else if let number = value.value(of: types.decimal) {
        self = .decimal(number)
      } else if let uuid = value.value(of: types.uuid) {
        self = .uuid(uuid)
      } else {
        return nil
      }
    case .other: return nil
    }
  }
}

extension ManagedObject {
  /// The error of an object passed to another context. `context` is the context that the object was passed to. Names
  /// the remedy: an ID within the same stores, a counterpart in a migration.
  func foreignError(in context: ManagedObjectContext?) -> GraphError {
    guard let own = managedObjectContext else { return detachedError }
    guard let context, own.coordinator !== context.coordinator else {
      return invalid("belongs to another context: fetch it here by its id with context:object(id)")
    }
    return invalid(
      "belongs to a context over other stores: find its counterpart here, which in a migration script is "
        + "migration:destination(object)")
  }
}
