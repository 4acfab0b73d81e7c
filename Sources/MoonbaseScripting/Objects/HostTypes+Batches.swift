import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel

import enum MoonbaseModel.Expression

/// What writes past the context: `request:batch_update { ... }`, `request:batch_delete()`, `context:batch_insert(entity, rows)`.
extension HostTypes {
  func describeBatchChanges() {
    request.method("batch_update", upTo: 1) { [unowned self] box, call in
      let domain = try openDomain()
      let context = try box.context
      let fetch = try box.objectRequest("batch_update")
      guard fetch.fetchLimit == 0, fetch.fetchOffset == 0 else {
        throw ScriptError(
          .invalidRequest,
          message: "batch_update changes all that match: leave limit and offset out, or say it by where")
      }
      guard call.isTable(0) else { throw call.typeError(0, expected: "table of attributes and expressions") }
      var update = BatchUpdateRequest(fetch.entityName, where: fetch.predicate)
      update.includesSubentities = fetch.includesSubentities
      let entity = try context.entity(fetch.entityName)
      for (key, value) in try call.table(0).pairs {
        let property = try domain.property(key, of: entity)
        update.propertiesToUpdate[property.name] = try Self.expression(value, for: property, in: domain, context)
      }
      update.resultType = .objectIDs
      try domain.batch(in: context, call: &call) { try context.execute(update) }
    }
    request.method("batch_delete", upTo: 0) { [unowned self] box, call in
      let context = try box.context
      var deletion = BatchDeleteRequest(try box.objectRequest("batch_delete"))
      deletion.resultType = .objectIDs
      try openDomain().batch(in: context, call: &call) { try context.execute(deletion) }
    }
  }

  func describeBatchInsertion() {
    context.method("batch_insert", upTo: 2) { [unowned self] context, call in
      let domain = try openDomain()
      let entity = try Self.entity(of: call, in: context)
      var insertion: BatchInsertRequest
      if call.isTable(1) {
        var rows = try call.table(1).elements.makeIterator()
        insertion = BatchInsertRequest(entity.name) { values in
          guard let row = rows.next() else { return true }
          values = try Self.row(row, of: entity, in: domain, context)
          return false
        }
      } else {
        let next = try call.function(1)
        insertion = BatchInsertRequest(entity.name) { values in
          let row = try next.first()
          if case .nil = row { return true }
          values = try Self.row(row, of: entity, in: domain, context)
          return false
        }
      }
      insertion.resultType = .objectIDs
      try domain.batch(in: context, call: &call) { try context.execute(insertion) }
    }
  }

  /// A text is an expression over the attributes of the row, anything else a value.
  private static func expression(
    _ value: LuaValue, for property: ResolvedProperty, in domain: ScriptDomain, _ context: ManagedObjectContext
  ) throws -> Expression {
    if let text = value.textValue { return try Expression(format: text) }
    return .constant(try domain.graphValue(from: value, for: property, in: context))
  }

  private static func row(
    _ row: LuaValue, of entity: ResolvedEntity, in domain: ScriptDomain, _ context: ManagedObjectContext
  ) throws -> [String: Value] {
    guard let table = row.tableValue else {
      throw ScriptError(
        .invalidRequest,
        message:
          "batch_insert: a row of \(entity.name) is a table of values, as in \(entity.exampleOfValues), and not \(row.typePhrase)",
        entity: entity.name)
    }
    return try domain.values(table, of: entity, in: context)
  }
}

extension ScriptDomain {
  /// Runs a batch request, and has the context take in what it wrote: the number of objects, or `nil` and the error.
  fileprivate func batch(
    in context: ManagedObjectContext, call: inout LuaCall, _ body: () throws -> BatchResult
  ) throws {
    try counting(&call) {
      let result = try body()
      if let changes = result.changes { try context.mergeChanges(from: changes) }
      return result.count ?? 0
    }
  }

  /// Returns a number, or `nil` and the error.
  func counting(_ call: inout LuaCall, _ body: () throws -> Int) throws {
    do { call.return(try body()) } catch let error as any CodedError where !error.isMistake && !error.code.endsRun {
      let box = ErrorBox(error, domain: self)
      unseenFailure = UnseenFailure(error: box, cause: .save)
      call.returnNil()
      try call.return(box, as: types.error)
    }
  }
}
