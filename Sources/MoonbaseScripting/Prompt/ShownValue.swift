package import MoonbaseGraph
package import MoonbaseLua
package import MoonbaseModel
import MoonbasePlatform

/// A value in the form that a prompt shows.
package enum ShownValue {
  /// A plain value, or a table.
  case value(LuaValue)
  /// The result of `tostring`.
  case text(String)
  /// An object with its properties.
  case object(ManagedObject)
  /// The first objects of a list of `total` objects.
  case objects([ManagedObject], total: Int)
  /// The names and first rows of a grouped request with `total` rows.
  case rows([String], [[Value]], total: Int)
  /// An error value.
  case error(String)
}

extension ScriptDomain {
  /// The most names of a listing that are shown.
  private static let greatestListing = 200

  /// The form in which a prompt shows a value, with at most `most` objects or rows. Requests are fetched, relationships
  /// and lists read, error values marked as read. Throws the errors of fetching.
  package func shown(_ value: LuaValue, most: Int) throws -> ShownValue {
    switch value {
    case .object(let object): try shown(object, value, most: most)
    case .table(let table): try objects(of: table, most: most) ?? .value(value)
    default: .value(value)
    }
  }

  /// The result of `tostring` for a value. A listing of the model is shown by its names. Errors of a metatable's
  /// `__tostring` are thrown.
  package func text(of value: LuaValue) throws -> String {
    if let listing = value.objectValue(as: ModelListing.self) {
      let names = listing.names.prefix(Self.greatestListing).joined(separator: ", ")
      return names + (listing.names.count > Self.greatestListing ? ", …" : "")
    }
    let text = try state.global("tostring").functionValue?.first(value)
    return text?.stringValue?.description ?? value.description
  }

  /// The result of `tostring` for an attribute's value.
  package func text(ofValue value: Value) throws -> String { try text(of: luaValue(from: value)) }

  /// The form of a host object: an object, a request, a relationship, an error, or a text.
  private func shown(_ object: LuaObject, _ value: LuaValue, most: Int) throws -> ShownValue {
    switch object.object {
    case let object as ManagedObject where object.managedObjectContext != nil: return .object(object)
    case let box as RequestBox: return try shown(box, most: most)
    case let box as ToManyBox where box.owner.managedObjectContext != nil:
      return .objects(Array(try box.objects().prefix(most)), total: try box.owner.memberCount(box.slot))
    case let box as ErrorBox:
      box.seen()
      return .error(box.text)
    default: return .text(try text(of: value))
    }
  }

  /// The objects of a list; nil for a list of other values.
  private func objects(of table: LuaTable, most: Int) throws -> ShownValue? {
    let count = try table.count
    guard count > 0, try table.size == count else { return nil }
    var objects: [ManagedObject] = []
    for index in 1...min(count, most) {
      try HostWork.charge()
      guard case let object? = try table.get(index).objectValue(as: ManagedObject.self),
        object.managedObjectContext != nil
      else { return nil }
      objects.append(object)
    }
    return .objects(objects, total: count)
  }

  /// The first objects of a request and the number of all matches. A further query counts them only if there are more
  /// than `most`.
  private func shown(_ box: RequestBox, most: Int) throws -> ShownValue {
    let context = try box.context
    var request = box.request
    guard request.propertiesToGroupBy.isEmpty, request.havingPredicate == nil else {
      return try rows(request, in: context, most: most)
    }
    if let ordered = try box.objectsInOrder(request) {
      return .objects(Array(ordered.prefix(most)), total: ordered.count)
    }
    let limit = request.fetchLimit
    request.fetchLimit = limit > 0 ? min(limit, most + 1) : most + 1
    let objects = try context.fetch(request)
    let total = objects.count > most ? try context.count(box.request) : objects.count
    return .objects(Array(objects.prefix(most)), total: total)
  }

  /// The rows of a grouped request. All rows are read to count them.
  private func rows(_ request: FetchRequest, in context: ManagedObjectContext, most: Int) throws -> ShownValue {
    var request = request
    request.resultType = .dictionaries
    let rows = try DictionaryRows(request, in: context)
    var first: [[Value]] = []
    var total = 0
    try rows.forEach { row in
      if total < most { first.append(row) }
      total += 1
    }
    return .rows(rows.names, first, total: total)
  }

  /// The explanation of how a request is executed; nil for a value that is neither a request nor a relationship. Throws
  /// errors in the request.
  package func explanation(of value: LuaValue) throws -> String? {
    guard let box = value.objectValue(as: RequestBox.self) else { return nil }
    var request = box.request
    if !request.propertiesToGroupBy.isEmpty || request.havingPredicate != nil { request.resultType = .dictionaries }
    return try box.context.explain(request)
  }
}
