import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The conversions between values of the graph and values of Lua.
///
/// - Null is nil, and `moonbase.null` within lists and maps.
/// - Booleans, integers, doubles and strings are Lua's own values; data is a string of bytes.
/// - Dates, decimals, UUIDs, URIs and object IDs are objects of the types in `LuaValueTypes`.
/// - Lists and maps are tables. An opaque value is the Lua value behind its token.
extension ScriptDomain {
  // MARK: To Lua

  /// A value as scripts see it. Null is nil, or `moonbase.null` within lists and maps. A freezer makes lists and maps
  /// read-only.
  ///
  /// `depth` is the level of nesting, 0 for the value itself. Throws `.invalidValue` beyond `TreeLimits.greatestDepth`,
  /// and for an opaque value of another domain.
  func luaValue(from value: Value, depth: Int = 0, frozenBy freezer: LuaFreezer? = nil) throws -> LuaValue {
    switch value {
    case .null: return depth == 0 ? .nil : .null
    case .bool(let truth): return .boolean(truth)
    case .int(let number): return .integer(number)
    case .double(let number): return .number(number)
    case .string(let text): return .text(text)
    case .data(let data): return .string(LuaString(bytes: data))
    case .date(let date): return types.date.value(date)
    case .decimal(let number): return types.decimal.value(number)
    case .uuid(let uuid): return types.uuid.value(uuid)
    case .uri(let uri): return types.uri.value(uri)
    case .objectID(let id): return types.objectID.value(id)
    case .object(let object): return try resolve(object)
    case .list(let list):
      try checkDepth(depth)
      let table = try state.list(list.map { try luaValue(from: $0, depth: depth + 1, frozenBy: freezer) })
      return .table(try freezer.map(table.frozen(by:)) ?? table)
    case .map(let map):
      try checkDepth(depth)
      let table = try state.table(map.mapValues { try luaValue(from: $0, depth: depth + 1, frozenBy: freezer) })
      return .table(try freezer.map(table.frozen(by:)) ?? table)
    }
  }

  /// Throws `.invalidValue` at the greatest depth, which a table nested in itself always reaches.
  private func checkDepth(_ depth: Int) throws {
    guard depth < TreeLimits.greatestDepth else {
      throw ScriptError(
        .invalidValue, message: "a value is nested more than \(TreeLimits.greatestDepth) levels deep, or in itself")
    }
  }

  /// The handle of an object in Lua. An object always has the same handle.
  func handle(_ object: ManagedObject) throws -> LuaValue {
    .object(LuaObject(object, as: try types.type(of: object.entity)))
  }

  /// The handles of objects. Charges one unit of host work for each object.
  func handles(_ objects: [ManagedObject]) throws -> [LuaValue] {
    try objects.map { object in
      try HostWork.charge()
      return try handle(object)
    }
  }

  /// The handles of objects as a table.
  ///
  /// Throws the error of an exceeded memory limit before the list is built.
  func list(of objects: [ManagedObject]) throws -> LuaTable {
    var memory = HostMemory()
    try memory.hold(objects.count * MemoryLayout<LuaValue>.stride)
    return try state.list(handles(objects))
  }

  // MARK: From Lua

  /// A Lua value converted for an attribute's type; without a type, in its natural form.
  ///
  /// Strings become bytes for binary attributes. Tables of a registered class become opaque objects where any class is
  /// allowed.
  ///
  /// Throws `.invalidValue` for functions, threads, tables with unknown metatables, lists with holes and keys that are
  /// not texts.
  func graphValue(from lua: LuaValue, for type: AttributeType? = nil) throws -> Value {
    if case .table(let table) = lua {
      var work = Conversion()
      return try graphValue(from: table, depth: 0, work: &work)
    }
    return try scalar(lua, for: type)
  }

  /// The conversion's progress. A shared table or string is converted at each occurrence, so a small tree may unfold
  /// into billions of values.
  private struct Conversion: ~Copyable {
    var tables = 0
    var memory = HostMemory()
  }

  /// A value within a table. Its bytes count against the memory limit while the conversion runs.
  private func element(from lua: LuaValue, depth: Int, work: inout Conversion) throws -> Value {
    if case .table(let table) = lua { return try graphValue(from: table, depth: depth, work: &work) }
    let value = try scalar(lua, for: nil)
    try work.memory.hold(48 + value.weight)
    return value
  }

  /// A value that is not a table. Objects become their IDs.
  private func scalar(_ lua: LuaValue, for type: AttributeType?) throws -> Value {
    switch lua {
    case .nil, .null: return .null
    case .boolean(let truth): return .bool(truth)
    case .integer(let number): return .int(number)
    case .number(let number): return .double(number)
    case .string(let string): return try graphValue(from: string, for: type)
    case .object(let object): return try graphValue(from: object)
    case .table, .function, .thread, .userdata:
      throw ScriptError(.invalidValue, message: "\(lua.typePhrase) cannot be stored")
    }
  }

  /// A Lua string is bytes. Bytes that are not UTF-8 become data for attributes that accept data, else an error.
  private func graphValue(from string: LuaString, for type: AttributeType?) throws -> Value {
    if type == .binaryData { return .data(Data(string.bytes)) }
    if let text = string.text { return .string(text) }
    if type == nil || type == .undefined || type == .transformable {
      return .data(Data(string.bytes))
    }
    throw ScriptError(.invalidValue, message: "the text is not UTF-8")
  }

  /// The value of a host object: a date or another value, the ID of a managed object, the IDs of a relationship's
  /// destinations.
  private func graphValue(from object: LuaObject) throws -> Value {
    if let value = LuaValueTypes.value(of: object) { return value }
    switch object.object {
    case let object as ManagedObject: return .objectID(object.objectID)
    case let members as ToManyBox: return .list(try members.ids().map(Value.objectID))
    default: throw ScriptError(.invalidValue, message: "\(object.type.name.withArticle) is no value")
    }
  }

  /// A table as an opaque value, a list or a map, tested in this order.
  ///
  ///
  /// ~An empty table is a list. A table with the keys 1 to n is a list; a table with text keys is a map. Throws
  /// `.invalidValue` for any other table.
  private func graphValue(from table: LuaTable, depth: Int, work: inout Conversion) throws -> Value {
    if let name = try className(of: table) { return .object(opaque(.table(table), className: name)) }
    guard try table.metatable == nil else {
      throw ScriptError(
        .invalidValue,
        message:
          "the table has a metatable, which would be lost: name it among the classes of an extension, or give a plain table"
      )
    }
    try checkDepth(depth)
    work.tables += 1
    guard work.tables <= TreeLimits.greatestCount else {
      throw ScriptError(
        .invalidValue, message: "a value holds more than a million tables, or one of them again and again")
    }
    if let elements = try listed(table) {
      var list: [Value] = []
      list.reserveCapacity(elements.count)
      for value in elements { list.append(try element(from: value, depth: depth + 1, work: &work)) }
      return .list(list)
    }
    var map: [String: Value] = [:]
    for pair in try table.pairs {
      guard let key = pair.key.textValue else {
        throw try Self.wrongKey(pair.key, of: table)
      }
      if let mistake = TextLimits.mistake(ofName: key) {
        throw ScriptError(.invalidValue, message: "a key of the map has \(mistake)")
      }
      if let other = map.index(forKey: key) { throw Self.twoForms(map[other].key, key) }
      map[key] = try element(from: pair.value, depth: depth + 1, work: &work)
    }
    return .map(map)
  }

  /// The error about a key that is not a text, in a table that is not a list. Distinguishes three mistakes: a hole in a
  /// list, a mixture of both kinds of keys, and a key that is no text.
  private static func wrongKey(_ key: LuaValue, of table: LuaTable) throws -> ScriptError {
    let keys = try table.pairs.map(\.key)
    let message =
      if keys.allSatisfy({ $0.integerValue.map { $0 > 0 } ?? false }) {
        "a list has a hole: write moonbase.null where it has no value"
      } else if keys.contains(where: { $0.integerValue != nil }) {
        "a table has list elements and other keys: it is neither a list nor a map"
      } else {
        "a key of the map is \(key.typePhrase): keys are texts, as tostring(key) gives"
      }
    return ScriptError(.invalidValue, message: message)
  }

  /// The error about two keys that differ only in Unicode form. A Swift dictionary treats them as the same key.
  private static func twoForms(_ one: String, _ other: String) -> ScriptError {
    let keys = [one, other].map { key in "\"\(key.unicodeScalars.map { $0.escaped(asASCII: true) }.joined())\"" }
    return ScriptError(
      .invalidValue,
      message:
        "the keys \(keys[0]) and \(keys[1]) are one text in two forms of Unicode, of which a map can keep one: normalize them"
    )
  }

  /// The elements, if the table is a list; nil otherwise.
  ///
  /// A table that is marked as a list is a list even when it has other keys.
  private func listed(_ table: LuaTable) throws -> [LuaValue]? {
    let elements = try table.elements
    return try elements.count == table.size || table.isMarkedList ? elements : nil
  }

  /// Throws if a Lua value is, or lists, an object of another context than `context`.
  ///
  /// Only the table's own elements are checked, as relationships accept no nested lists.
  func checkContext(of lua: LuaValue, is context: ManagedObjectContext?) throws {
    switch lua {
    case .object(let box):
      guard let object = box.object as? ManagedObject ?? (box.object as? ToManyBox)?.owner else { return }
      if object.managedObjectContext === context { return }
      throw object.foreignError(in: context)
    case .table(let table):
      guard try table.metatable == nil else { return }
      for element in try table.elements {
        if case .object = element { try checkContext(of: element, is: context) }
      }
    default: return
    }
  }

  /// A Lua value converted for a property of an object.
  ///
  /// A mistake is reported as `Person.age: …`, with entity and property. For a relationship, an object of another
  /// context throws the error of `foreignError(in:)`.
  func graphValue(from lua: LuaValue, for property: ResolvedProperty, in context: ManagedObjectContext?) throws -> Value
  {
    do {
      return try fitting(lua, for: property, in: context)
    } catch var error as ScriptError where error.property == nil {
      // The conversion knows the mistake in the value; the entity and property are added here.
      let entity = context?.model.entities[property.declaringEntity].name
      error.message = "\(entity.map { "\($0)." } ?? "")\(property.name): \(error.message)"
      (error.entity, error.property) = (entity, property.name)
      throw error
    }
  }

  /// The conversion for the kind of property: an attribute, a composite attribute, a to-many or a to-one relationship.
  private func fitting(_ lua: LuaValue, for property: ResolvedProperty, in context: ManagedObjectContext?) throws
    -> Value
  {
    if let type = property.attributeType {
      guard type == .composite, let attribute = property.attribute else { return try graphValue(from: lua, for: type) }
      return try composite(from: lua, of: attribute)
    }
    if case .table(let table) = lua, try table.metatable == nil, let elements = try listed(table) {
      return .list(try elements.map { try destination($0, in: context) })
    }
    return try destination(lua, in: context)
  }

  /// A table as the value of a composite, with each field converted for its element.
  private func composite(from lua: LuaValue, of attribute: AttributeDescription) throws -> Value {
    guard attribute.type == .composite, case .table(let table) = lua, try table.metatable == nil
    else { return try graphValue(from: lua, for: attribute.type) }
    var map: [String: Value] = [:]
    for pair in try table.pairs {
      guard let key = pair.key.textValue, let element = attribute.elements.first(where: { $0.name == key }) else {
        // The attribute reports the unknown element.
        return try graphValue(from: lua)
      }
      map[key] = try composite(from: pair.value, of: element)
    }
    return .map(map)
  }

  /// A destination of a relationship, which has to be an object of the context.
  private func destination(_ lua: LuaValue, in context: ManagedObjectContext?) throws -> Value {
    try checkContext(of: lua, is: context)
    return try graphValue(from: lua)
  }

  // MARK: Arguments of calls

  /// Returns a value from a host function to Lua.
  ///
  /// Plain values are pushed directly, without an intermediate `LuaValue`.
  func answer(_ call: inout LuaCall, with value: Value) throws {
    switch value {
    case .null: call.returnNil()
    case .bool(let truth): call.return(truth)
    case .int(let number): call.return(number)
    case .double(let number): call.return(number)
    case .string(let text): call.return(text)
    case .data(let data): data.withUnsafeBytes { call.return(bytes: $0) }
    case .date(let date): try call.return(date, as: types.date)
    case .decimal(let number): try call.return(number, as: types.decimal)
    case .uuid(let uuid): try call.return(uuid, as: types.uuid)
    case .objectID(let id): try call.return(id, as: types.objectID)
    default: try call.return(luaValue(from: value))
    }
  }

  /// Returns an attribute's value from a host function to Lua.
  ///
  /// Lists and maps are frozen: a change in place would not reach the attribute. The error of an attempt names the
  /// attribute and `moonbase.copy`.
  func answer(_ call: inout LuaCall, with value: Value, of property: ResolvedProperty, entity: ResolvedEntity) throws {
    switch value {
    case .list, .map:
      let freezer = try freezer(of: "\(entity.name).\(property.name)")
      try call.return(luaValue(from: value, frozenBy: freezer))
    default: try answer(&call, with: value)
    }
  }

  /// Sets an argument of a fast call to an attribute's value. `name` is the attribute in the message about a frozen
  /// value, as `Person.colors`.
  func setArgument(
    _ index: Int, of arguments: borrowing LuaArguments, to value: Value, ofAttribute name: String
  ) throws {
    switch value {
    case .list, .map: try arguments.set(index, to: luaValue(from: value, frozenBy: freezer(of: name)))
    default: try setArgument(index, of: arguments, to: value)
    }
  }

  /// The freezer for lists and maps of an attribute. Made once per attribute, since the message contains its name.
  private func freezer(of attribute: String) throws -> LuaFreezer {
    if let known = freezers[attribute] { return known }
    let name = attribute.split(separator: ".").last ?? ""
    let new = try state.freezer(
      saying:
        "\(attribute): what an attribute returns is frozen, because a change in place would be lost: assign a changed copy: "
        + "local t = moonbase.copy(p.\(name))")
    freezers[attribute] = new
    return new
  }

  /// A mutable copy of a table, including all nested tables. Values other than tables are returned unchanged.
  ///
  /// `moonbase.copy(value)`. A table that occurs twice is copied twice. Metatables are shared with the original. Throws
  /// `.invalidValue` for a table nested in itself.
  func copy(of value: LuaValue, depth: Int = 0) throws -> LuaValue {
    guard case .table(let table) = value else { return value }
    try checkDepth(depth)
    let copy = try state.table()
    for (key, inner) in try table.pairs {
      try HostWork.charge()
      try copy.set(key, to: self.copy(of: inner, depth: depth + 1))
    }
    if try table.isMarkedList { try copy.markAsList() }
    if let metatable = try table.metatable { try copy.setMetatable(metatable) }
    return .table(copy)
  }

  /// Sets an argument of a fast call. Plain values need no allocation; dates, decimals, UUIDs and IDs become objects in
  /// Lua.
  func setArgument(_ index: Int, of arguments: borrowing LuaArguments, to value: Value) throws {
    switch value {
    case .null: arguments.setNil(index)
    case .bool(let truth): arguments.set(index, boolean: truth)
    case .int(let number): arguments.set(index, integer: number)
    case .double(let number): arguments.set(index, number: number)
    case .string(let text): arguments.set(index, string: text)
    case .data(let data): data.withUnsafeBytes { arguments.set(index, bytes: $0) }
    case .date(let date): try arguments.set(index, date, as: types.date)
    case .decimal(let number): try arguments.set(index, number, as: types.decimal)
    case .uuid(let uuid): try arguments.set(index, uuid, as: types.uuid)
    case .objectID(let id): try arguments.set(index, id, as: types.objectID)
    default: try arguments.set(index, to: luaValue(from: value))
    }
  }

  /// Sets an argument of a fast call to a cell of a row. The cell must stay valid until the call has ended.
  func setArgument(_ index: Int, of arguments: borrowing LuaArguments, to cell: Snapshot.Cell) throws {
    if !arguments.set(index, plain: cell) { try setArgument(index, of: arguments, to: cell.asValue) }
  }

  /// Reads the single result of a fast call. Integers are tested first, because they are the most frequent result of
  /// derived attributes.
  func graphValue(from result: borrowing LuaResult, for type: AttributeType? = nil) throws -> Value {
    if let number = result.integer { return .int(number) }
    if result.isNil { return .null }
    if let truth = result.boolean { return .bool(truth) }
    if type != .binaryData, let text = result.text { return .string(text) }
    return try graphValue(from: try result.value, for: type)
  }
}

extension LuaArguments {
  /// Sets an argument to a cell of a row, which must stay valid until the call has ended. Returns false for a value
  /// that becomes an object in Lua.
  @inline(__always)
  func set(_ index: Int, plain cell: Snapshot.Cell) -> Bool {
    switch cell {
    case .null: setNil(index)
    case .bool(let truth): set(index, boolean: truth)
    case .int(let number): set(index, integer: number)
    case .double(let number): set(index, number: number)
    case .text(let bytes), .data(let bytes): set(index, borrowedBytes: bytes)
    case .date, .uuid, .reference, .value: return false
    }
    return true
  }
}
