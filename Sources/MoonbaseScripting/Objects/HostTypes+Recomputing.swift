import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// `context:recompute("Person", "full_name")` and `request:recompute("full_name")`.
///
/// Needed after an extension with a `stored` derived attribute was added or changed, because stored values are updated
/// only when their objects are saved.
extension HostTypes {
  /// The number of objects saved together. Also the number of objects in memory at a time.
  private static let greatestChunk = 1000

  /// Updates stored derived attributes of objects, with intermediate saves. Returns the number of changed objects, or
  /// `nil`, the error and the number saved before it.
  ///
  /// Throws `.invalidRequest` if the context has unsaved changes, which the intermediate saves would include. A nil
  /// name updates all stored derived attributes.
  func recompute(_ request: FetchRequest, _ name: String?, in context: ManagedObjectContext, call: inout LuaCall) throws
  {
    try Self.check(name, request.entityName, in: context)
    guard !context.hasChanges else {
      throw ScriptError(
        .invalidRequest,
        message: "recompute saves as it goes, and there are unsaved changes: save or roll back before it")
    }
    var count = 0
    do {
      let found = try context.walk(request)
      defer { found.close() }
      var chunk: [ManagedObject] = []
      var place = 0
      while try found.reaches(place) {
        defer { place += 1 }
        guard let object = try found.existingObject(at: place) else { continue }
        try HostWork.charge()
        try object.recomputeStoredAttributes(name.map { [$0] })
        chunk.append(object)
        if chunk.count == Self.greatestChunk { count += try Self.save(&chunk, in: context) }
      }
      count += try Self.save(&chunk, in: context)
    } catch let error as any CodedError where !error.isMistake && !error.code.endsRun {
      try? context.rollback()
      call.returnNil()
      try call.return(ErrorBox(error, domain: openDomain(), calls: state.callsUnderWay()), as: self.error)
      return call.return(count)
    }
    call.return(count)
  }

  /// Saves a chunk and turns its objects into faults. Returns the number of changed objects.
  private static func save(_ chunk: inout [ManagedObject], in context: ManagedObjectContext) throws -> Int {
    let count = context.updatedObjects.count
    if count > 0 { try context.save() }
    try context.turnIntoFaults(chunk)
    chunk = []
    return count
  }

  /// Throws `.unknownName` for an attribute that is not stored, or an entity without any.
  private static func check(_ name: String?, _ entityName: String, in context: ManagedObjectContext) throws {
    let entity = try context.entity(entityName)
    let family = context.model.entities.filter { $0.isKind(of: entity) }
    let names = try Set(family.flatMap(context.storedAttributeNames))
    if let name, !family.contains(where: { $0.property(name) != nil }) {
      throw GraphError.unknownProperty(name, of: entity)
    }
    guard !names.isEmpty else {
      throw ScriptError(
        .unknownName, message: "\(entityName) has no stored derived attribute that an extension computes",
        entity: entityName)
    }
    guard let name, !names.contains(name) else { return }
    throw ScriptError(
      .unknownName,
      message: "\(entityName).\(name) is no stored derived attribute\(suggestion(for: name, among: names.sorted()))",
      entity: entityName, property: name)
  }

  /// Describes the method of contexts; that of requests is described with them.
  func describeRecomputing() {
    context.method("recompute", upTo: 2) { [unowned self] context, call in
      let entity = try Self.entity(of: call, in: context)
      let name = call.isNil(1) ? nil : try call.text(1)
      try recompute(FetchRequest(entity.name), name, in: context, call: &call)
    }
  }
}
