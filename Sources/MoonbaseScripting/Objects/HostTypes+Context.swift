import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel

extension HostTypes {
  /// Describes the members of contexts. Called when the first context enters Lua. Most members are described by
  /// functions of other files, one for each aspect.
  func describeContext() {
    describeChanges()
    describeSaving()
    describeSettingsOfContext()
    describeLookup()
    describeBatchInsertion()
    describeHistoryOfContext()
    describeUndo()
    describeFamily()
    describeObservers()
    describeRecomputing()
    context.plain.operator(.text) { call in call.return(try call.object(0, as: ContextBox.self).text) }
    for misuse: LuaOperator in [.call, .pairs] {
      context.plain.operator(misuse) { _ in
        throw ScriptError(
          .invalidRequest,
          message: "a context is no list: write for object in context:fetch(\"Entity\"):each() do for objects")
      }
    }
    context.method("fetch", upTo: 1) { [unowned self] context, call in
      context.followExtensions()
      let entity = try Self.entity(of: call, in: context)
      try call.return(RequestBox(FetchRequest(entity.name), context: self.context.box(context)), as: request)
    }
    context.method("fetch_template", upTo: 2) { [unowned self] context, call in
      let domain = try openDomain()
      var values: [String: Value] = [:]
      if !call.isNil(1) {
        for (key, value) in try call.table(1).pairs {
          let name = key.textValue ?? ""
          try TextLimits.check(path: name)
          values[name] = try domain.graphValue(from: value)
        }
      }
      let request = try context.fetchRequest(fromTemplate: try call.name(0), substituting: values)
      try call.return(
        RequestBox(request, context: self.context.box(context), naming: Array(values.values)), as: self.request)
    }
  }

  /// Describes insertion, deletion, refreshing and rollback. Changes of one call are a single undo step.
  private func describeChanges() {
    context.method("insert", upTo: 2) { [unowned self] context, call in
      let entity = try Self.entity(of: call, in: context)
      _ = try openDomain()
      let type = try type(of: entity)
      if !call.isNil(1), !call.isTable(1) { throw Self.valuesExpected(call, at: 1, for: entity) }
      let object = try context.changingTogether {
        let object = try context.insert(entity)
        if call.isTable(1) { try call.forEach(of: 1, as: type) { try assign($1, to: $0, of: object, as: type) } }
        return object
      }
      try call.return(object, as: type)
      try finish(in: context)
    }
    change("delete", upTo: .max) { context, call in
      let objects = try Self.objects(of: call)
      try context.changingTogether { for object in objects { try context.delete(object) } }
    }
    change("rollback") { context, _ in try context.rollback() }
    change("reset") { context, _ in try context.reset() }
    change("refresh", upTo: 2) { context, call in
      let mergesChanges = call.count < 2 ? true : try call.boolean(1)
      for object in try Self.objects(of: call, at: 0) { try context.refresh(object, mergeChanges: mergesChanges) }
    }
    change("process_pending_changes") { context, _ in try context.processPendingChanges() }
    context.property("has_changes", get: { context, call in call.return(context.hasChanges) })
    context.property(
      "validation_warnings",
      get: { [unowned self] context, call in
        try call.return(.table(try openDomain().list(of: context.validationWarnings)))
      })
  }

  /// Defines a method that may change something, after which observers are called. The body receives a context that
  /// still exists; the undo step ends afterwards.
  func change(
    _ name: String, upTo count: Int = 0, _ body: @escaping (ManagedObjectContext, inout LuaCall) throws -> Void
  ) {
    context.method(name, upTo: count) { [unowned self] context, call in
      try body(context, &call)
      try finish(in: context)
    }
  }

  /// Describes `save`, `save_ahead` and `transaction(function)`, which returns true and the results, or nil and the
  /// error.
  private func describeSaving() {
    context.method("save", upTo: 0) { [unowned self] context, call in
      try openDomain().save(context, call: &call)
      try finish(in: context.parent ?? context)
    }
    context.method("save_ahead", upTo: 0) { [unowned self] context, call in
      try openDomain().save(context, ahead: true, call: &call)
      try finish(in: context.parent ?? context)
    }
    context.method("transaction", upTo: 1) { [unowned self] context, call in
      let domain = try openDomain()
      let body = try call.function(0)
      do {
        let results = try context.transaction { try body.call([]) }
        call.return(true)
        for result in results { try call.return(result) }
        _ = domain.didSaveError(of: context)
        try finish(in: context)
      } catch {
        // An error of the body arrives as a Lua error and is reported by its cause.
        if let limit = error as? LuaError, limit.endsRun { throw error }
        if let error = error as? any CodedError, error.isMistake || error.code.endsRun { throw error }
        let value = try domain.luaValue(of: Self.withPlace(Self.textAsError(error)))
        call.returnNil()
        try call.return(value)
        // Reads of a table that a script raised cannot be tracked, unlike reads of an error value.
        if let box = value.objectValue(as: ErrorBox.self) {
          domain.unseenFailure = UnseenFailure(error: box, cause: .transaction)
        }
      }
    }
  }

  /// A raised text as an error value, whose reads by a script can be tracked.
  private static func textAsError(_ error: any Error) -> any Error {
    guard let raised = error as? LuaError, raised.underlying == nil, !raised.hasOwnValue else { return error }
    return GraphError(.extensionFailure, message: raised.plainDescription, underlying: raised)
  }

  /// An error of the graph raised in the body, with the line that raised it.
  private static func withPlace(_ error: any Error) -> any Error {
    guard let raised = error as? LuaError, let script = raised.script, let line = raised.line,
      let cause = raised.underlying as? any CodedError
    else { return error }
    let text = String(describing: cause)
    var placed = (cause as? GraphError) ?? GraphError(cause.code, message: text, underlying: raised)
    (placed.entity, placed.property) = (cause.entity, cause.property)
    placed.reason = placed.reason ?? (cause as? ScriptError)?.message ?? text
    // An inner transaction has added its line already.
    if !placed.message.hasPrefix("\(script):") { placed.message = "\(script):\(line): \(placed.message)" }
    placed.underlying = placed.underlying ?? raised
    return placed
  }

  /// Describes `object(id)`, `find(entity, values)` and `upsert(entity, keys, values)`.
  private func describeLookup() {
    context.method("object", upTo: 1) { [unowned self] context, call in
      let domain = try openDomain()
      var id: ManagedObjectID?
      if let given = call.valueIfPresent(0, of: objectID) {
        id = given
      } else {
        id = ManagedObjectID(uriRepresentation: try call.text(0))
      }
      guard let id else { throw call.argumentError(0, problem: "no URI of an object of an open store") }
      try call.return(try context.existingObject(with: id).map { try domain.handle($0) } ?? .nil)
    }
    context.method("find", upTo: 2) { [unowned self] context, call in
      let domain = try openDomain()
      let entity = try Self.entity(of: call, in: context)
      let values = try domain.values(try Self.values(of: call, at: 1, for: entity), of: entity, in: context)
      guard !values.isEmpty else {
        throw call.argumentError(
          1,
          problem:
            "no values to find by (a nil in a table is none): give one, moonbase.null where none is meant, or call "
            + "context:fetch(\"\(entity.name)\"):first()")
      }
      let found = try context.firstObject(of: entity, with: values.map { (name: $0.key, value: $0.value) })
      try call.return(found.map { try domain.handle($0) } ?? .nil)
    }
    context.method("upsert", upTo: 3) { [unowned self] context, call in try upsert(context, call: &call) }
  }

  /// The method `upsert`, for a single table of values or a list of them. Returns the object, or a list of objects.
  private func upsert(_ context: ManagedObjectContext, call: inout LuaCall) throws {
    let domain = try openDomain()
    let entity = try Self.entity(of: call, in: context)
    let keys = try Self.keys(of: call, at: 1, for: entity).map { name in
      let property = try domain.property(.text(name), of: entity)
      if property.relationship?.isToMany == true { throw Self.notSought(name, of: entity) }
      return property
    }
    let argument = try Self.values(of: call, at: 2, for: entity)
    let rows = try argument.elements.isEmpty ? [] : Self.rows(of: argument, call, at: 2, for: entity)
    guard !rows.isEmpty else {
      try call.return(domain.handle(upsert(argument, of: entity, keys: keys, in: context)))
      return try finish(in: context)
    }
    let objects = try rows.map { row in
      guard let table = row.tableValue else {
        throw call.argumentError(2, problem: "a table, or a list of tables, is expected")
      }
      return try domain.handle(upsert(table, of: entity, keys: keys, in: context))
    }
    try call.return(.table(try domain.state.list(objects)))
    try finish(in: context)
  }

  /// The object whose `keys` match a table's values, or a new object, with the table's values assigned. Values are
  /// converted before the first change, so that a wrong value changes nothing.
  private func upsert(
    _ table: LuaTable, of entity: ResolvedEntity, keys: [ResolvedProperty], in context: ManagedObjectContext
  ) throws -> ManagedObject {
    let domain = try openDomain()
    var values: [(slot: Slot, value: Value)] = []
    try table.forEach { key, value in
      let property = try domain.property(key, of: entity)
      values.append((property.slot, try domain.graphValue(from: value, for: property, in: context)))
    }
    let sought = try keys.map { key in
      guard let found = values.first(where: { $0.slot == key.slot }) else { throw Self.missing(key.name, of: entity) }
      return (name: key.name, value: found.value)
    }
    let found = try context.firstObject(of: entity, with: sought, mayBeOld: true)
    // The object was found by the store's current row, so the values are compared with that row.
    try found?.adoptCurrentValues()
    return try context.changingTogether {
      let object = try found ?? context.insert(entity)
      for (slot, value) in values { try object.setValue(value, slot: slot) }
      return object
    }
  }

  /// The error of a to-many relationship as a key.
  private static func notSought(_ key: String, of entity: ResolvedEntity) -> ScriptError {
    ScriptError(
      .invalidRequest,
      message: "upsert: \(entity.name).\(key) leads to several objects, and a key is an attribute or leads to one",
      entity: entity.name, property: key)
  }

  /// The error of a row without a key value. It would match any object without a value.
  private static func missing(_ key: String, of entity: ResolvedEntity) -> ScriptError {
    ScriptError(
      .invalidRequest,
      message: "upsert: the values have no \(key), which is a key: give it, or moonbase.null where no value is meant",
      entity: entity.name, property: key)
  }

  /// Sets the property named by a key of a table.
  ///
  /// A scalar goes directly into the row's cell where the object has no hooks for the property. A value of another kind
  /// is converted first.
  private func assign(
    _ value: borrowing LuaElement, to key: LuaTable.Entry, of object: ManagedObject, as type: LuaHostType<ManagedObject>
  ) throws {
    if case .slot(let slot) = key, object.writesItsRow,
      let cell = RawCell(value.scalar, for: object.attributeType(at: slot), types: self),
      object.setFast(cell, slot: slot)
    {
      return
    }
    let properties = object.entity.properties
    let property =
      switch key {
      case .slot(let slot) where slot < properties.count: properties[slot]
      // Fetched properties follow the properties with slots.
      case .slot(let slot): try openDomain().property(.text(type.names[slot]), of: object.entity)
      case .other(let name): try openDomain().property(name, of: object.entity)
      }
    if let scalar = Value(value.scalar, for: property.attributeType, types: self) {
      return try object.setValue(scalar, slot: property.slot)
    }
    try object.setValue(
      openDomain().graphValue(from: value.value, for: property, in: object.managedObjectContext), slot: property.slot)
  }
}

extension ScriptDomain {
  /// The entries of a table as values of an entity's properties. Keys must be names of properties; values are converted
  /// for them. Throws `.unknownName` and `.invalidValue`.
  func values(_ table: LuaTable, of entity: ResolvedEntity, in context: ManagedObjectContext) throws -> [String: Value]
  {
    var result: [String: Value] = [:]
    try table.forEach { key, value in
      let property = try property(key, of: entity)
      result[property.name] = try graphValue(from: value, for: property, in: context)
    }
    return result
  }

  /// The property named by a key of a table. Throws `.unknownName` with a suggestion.
  func property(_ key: LuaValue, of entity: ResolvedEntity) throws -> ResolvedProperty {
    if let name = key.textValue, let property = entity.property(name) { return property }
    guard let shown = key.textValue else { throw Self.unnamed(key, of: entity) }
    throw GraphError.unknownProperty(shown, of: entity)
  }

  /// The error of a value without a property name.
  private static func unnamed(_ key: LuaValue, of entity: ResolvedEntity) -> GraphError {
    let found =
      key.integerValue.map { "value \($0) of the table has no name" } ?? "the table has \(key.typePhrase) as a key"
    return GraphError(
      .unknownName, message: "\(entity.name): \(found): values are named, as in \(entity.exampleOfValues)",
      entity: entity.name)
  }

  /// A caught error, as a script's `pcall` would return it. The value that a script raised, the error object of a host
  /// error, or a text.
  func luaValue(of error: any Error) throws -> LuaValue {
    if let error = error as? LuaError {
      if let value = error.value(in: state) { return value }
      if let underlying = error.underlying, let value = luaError(underlying) { return value }
      return .text(error.description)
    }
    return luaError(error) ?? .text(String(describing: error))
  }
}
