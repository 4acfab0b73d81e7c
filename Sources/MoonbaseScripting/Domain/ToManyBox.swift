import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The destinations of a to-many relationship as scripts see them.
///
/// `person.friends` makes a box at each access; boxes of the same owner and slot are equal. No destinations are read
/// until a method needs them. The box retains its owner.
final class ToManyBox {
  /// The object whose relationship this is.
  let owner: ManagedObject
  /// The slot of the relationship in the owner's entity.
  let slot: Slot

  /// A view of a relationship.
  init(_ owner: ManagedObject, slot: Slot) {
    self.owner = owner
    self.slot = slot
  }

  /// The IDs of the destinations, in order for an ordered relationship. Fires the relationship's fault.
  func ids() throws -> [ManagedObjectID] { try owner.memberIDs(slot) }

  /// The destinations as objects, which may be faults themselves.
  func objects() throws -> [ManagedObject] {
    try owner.memberObjects(slot)
  }

  var isOrdered: Bool { owner.entity.properties[slot].relationship?.description.isOrdered ?? false }

  /// `Person.friends of x-coredata://…/Person/p1 (3 objects)`. Does not fire a fault.
  var text: String {
    let name = owner.entity.properties[slot].name
    return "\(owner.entity.name).\(name) of \(owner.objectID) (\(contents(name)))"
  }

  /// The number of destinations if known without reading.
  private func contents(_ name: String) -> String {
    guard owner.managedObjectContext != nil else { return "its object is gone" }
    guard let isFault = try? owner.hasFault(forRelationshipNamed: name), !isFault,
      let count = try? owner.memberCount(slot)
    else { return "not read yet" }
    return count == 1 ? "1 object" : "\(count) objects"
  }

  /// Throws for an ID whose entity can never be a destination. The ID of a wrong entity is a mistake of the script,
  /// which `remove` would otherwise silently ignore.
  func checkEntity(of id: ManagedObjectID) throws {
    let property = owner.entity.properties[slot]
    guard let relationship = property.relationship, let model = owner.managedObjectContext?.model else { return }
    let wanted = model.destination(of: relationship)
    guard model.entity(of: id)?.isKind(of: wanted) != true else { return }
    let name = "\(owner.entity.name).\(property.name)"
    throw ScriptError(
      .invalidValue, message: "\(name): its destinations are \(wanted.name), not \(id.entityName)",
      entity: owner.entity.name, property: property.name)
  }

  /// Throws `.invalidRequest` for a relationship that is not ordered.
  func requireOrder() throws {
    guard isOrdered else {
      throw ScriptError(
        .invalidRequest,
        message: "\(owner.entity.name).\(owner.entity.properties[slot].name) is not ordered: it has no positions",
        entity: owner.entity.name, property: owner.entity.properties[slot].name)
    }
  }
}

extension ManagedObject {
  /// Whether a walk skips the object, because it was deleted since the walk began or left its context.
  fileprivate var isGone: Bool { isDeleted || managedObjectContext == nil }
}

extension HostTypes {
  /// Describes `add remove contains each all`, `#`, `pairs`; for ordered relationships also `[i] insert move index_of`.
  ///
  /// Positions count from 1. A relationship also has the methods of requests (`where`, `sort`, …), which begin a
  /// request for its destinations.
  func describeMembers() {
    members.method("add") { [unowned self] box, call in
      let ids = try Self.ids(call, in: box)
      for id in ids { try box.owner.checkDestination(id, slot: box.slot) }
      try change(box) { for id in ids { try box.owner.addMember(id, slot: box.slot) } }
    }
    members.method("remove") { [unowned self] box, call in
      let ids = try Self.ids(call, in: box)
      for id in ids { try box.checkEntity(of: id) }
      try change(box) { for id in ids { try box.owner.removeMember(id, slot: box.slot) } }
    }
    members.method("contains", upTo: 1) { box, call in
      call.return(try box.owner.hasMember(Self.id(call, at: 0, in: box), slot: box.slot))
    }
    members.method("all", upTo: 0) { [unowned self] box, call in
      try call.return(.table(try openDomain().list(of: box.objects())))
    }
    members.method("each", upTo: 0) { [unowned self] box, call in
      var rest = try box.objects()[...]
      try call.return(
        try openDomain().state.function(weight: Self.weight(of: rest.count)) { [unowned self] call in
          let domain = try openDomain()
          while let object = rest.popFirst() {
            guard !object.isGone else { continue }
            return try call.return(domain.handle(object))
          }
          call.returnNil()
        })
    }
    describeSteps { [unowned self] name, count, body in
      members.method(name, upTo: count) { [unowned self] box, call in
        try call.return(body(request(of: box), call, openDomain()), as: request)
      }
    }
    members.method("count", upTo: 0) { box, call in call.return(try box.owner.memberCount(box.slot)) }
    members.method("first", upTo: 0) { [unowned self] box, call in
      guard let id = try box.owner.memberIDs(box.slot).first else { return call.returnNil() }
      try call.return(handle(id, in: box))
    }
    members.method("ids", upTo: 0) { [unowned self] box, call in
      let domain = try openDomain()
      try call.return(.table(domain.state.list(box.ids().map { try domain.luaValue(from: .objectID($0)) })))
    }
    // Each access makes its own handle.
    members.operator(.equal) { call in
      let left = call.objectIfPresent(0, as: ToManyBox.self)
      let right = call.objectIfPresent(1, as: ToManyBox.self)
      call.return(left != nil && left?.owner === right?.owner && left?.slot == right?.slot)
    }
    members.operator(.text) { call in call.return(try call.object(0, as: ToManyBox.self).text) }
    members.operator(.length) { call in
      let box = try call.object(0, as: ToManyBox.self)
      call.return(try box.owner.memberCount(box.slot))
    }
    members.operator(.pairs) { [unowned self] call in
      let all = try call.object(0, as: ToManyBox.self).objects()
      var index = 0
      try call.return(
        try openDomain().state.function(weight: Self.weight(of: all.count)) { [unowned self] call in
          while index < all.count, all[index].isGone { index += 1 }
          guard index < all.count else { return call.returnNil() }
          index += 1
          try call.return(.integer(Int64(index)))
          try call.return(openDomain().handle(all[index - 1]))
        })
    }
    members.operator(.call) { _ in
      throw ScriptError(
        .invalidRequest, message: "a relationship cannot be called: write for object in object.NAME:each() do")
    }
    describeOrder()
  }

  /// Changes a list in a single step: observers are called once, and it is a single undo step. Checks of all arguments
  /// come before the first change, so that a failing call changes nothing.
  private func change(_ box: ToManyBox, _ body: () throws -> Void) throws {
    guard let context = box.owner.managedObjectContext else { return try body() }
    try context.changingTogether(body)
    try finish(in: context)
  }

  /// Describes the methods and the index of ordered relationships. Unordered ones throw `.invalidRequest`.
  private func describeOrder() {
    members.method("insert", upTo: 2) { [unowned self] box, call in
      try box.requireOrder()
      let id = try Self.id(call, at: 1, in: box)
      let others = try box.owner.memberCount(box.slot) - (box.owner.hasMember(id, slot: box.slot) ? 1 : 0)
      let position = try Self.position(call, at: 0, upTo: others + 1)
      try change(box) { try box.owner.insertMember(id, at: position, slot: box.slot) }
    }
    members.method("move", upTo: 2) { [unowned self] box, call in
      try box.requireOrder()
      let count = try box.owner.memberCount(box.slot)
      let from = try Self.position(call, at: 0, upTo: count)
      let to = try Self.position(call, at: 1, upTo: count)
      try change(box) { try box.owner.moveMember(from: from, to: to, slot: box.slot) }
    }
    members.method("index_of", upTo: 1) { box, call in
      try box.requireOrder()
      let id = try Self.id(call, at: 0, in: box)
      try call.return(try box.owner.memberIndex(of: id, slot: box.slot).map { .integer(Int64($0 + 1)) } ?? .nil)
    }
    members.missing { [unowned self, unowned members] box, key, writing, call in
      guard case .integer(let position) = try call.value(0) else {
        throw ScriptError(
          .unknownName, message: "a relationship has no '\(key)'\(members.advice?(key) ?? "")")
      }
      try box.requireOrder()
      guard !writing else {
        let owner = box.owner.entity
        let name = owner.properties[box.slot].name
        throw ScriptError(
          .invalidRequest,
          message:
            "\(owner.name).\(name): a position is not assigned: assign a list to \(name), or use insert, remove and move",
          entity: owner.name, property: name)
      }
      guard position > 0, let id = try box.owner.memberID(at: Int(position) - 1, slot: box.slot) else {
        return call.returnNil()
      }
      try call.return(try handle(id, in: box))
    }
  }

  /// A request for the destinations of a relationship, by the inverse, or by their IDs if there is no inverse.
  ///
  /// For `department.employees` the predicate is `department == %@`; with a to-many inverse `ANY friends == %@`.
  private func request(of box: ToManyBox) throws -> RequestBox {
    guard let context = box.owner.managedObjectContext,
      let relationship = box.owner.entity.properties[box.slot].relationship
    else { throw box.owner.detachedError }
    let destination = context.model.destination(of: relationship)
    var request = FetchRequest(destination.name)
    var named: [Value] = []
    if let slot = relationship.inverseSlot, case let inverse = destination.property(at: slot), !inverse.isTransient {
      named = [.objectID(box.owner.objectID)]
      let isToMany = inverse.relationship?.isToMany == true
      request.predicate = .comparison(
        .init(
          .keyPath(.evaluatedObject, [inverse.name]), .equal, .constant(named[0]), modifier: isToMany ? .any : .direct))
    } else {
      named = try box.ids().map(Value.objectID)
      request.predicate = .comparison(.init(.evaluatedObject, .in, .constant(.list(named))))
    }
    return RequestBox(
      request, context: self.context.box(context), naming: named, of: box.isOrdered ? box : nil)
  }

  /// A position from 1, converted to count from 0. Throws an argument error for a position that is not from 1 to
  /// `last`.
  private static func position(_ call: borrowing LuaCall, at index: Int, upTo last: Int) throws -> Int {
    let position = try call.integer(index)
    guard position >= 1, position <= last else {
      throw call.argumentError(
        index,
        problem: last == 0
          ? "position out of bounds: there is none" : "position out of bounds: \(position) is not from 1 to \(last)")
    }
    return Int(position) - 1
  }

  /// The estimated host memory of a list of destinations while a script iterates over it.
  private static func weight(of count: Int) -> Int { 256 + 96 * count }

  /// The destination as a Lua object; nil if the owner has left its context.
  private func handle(_ id: ManagedObjectID, in box: ToManyBox) throws -> LuaValue {
    guard box.owner.managedObjectContext != nil else { return .nil }
    return try openDomain().handle(box.owner.destinationObject(id, slot: box.slot))
  }

  /// The IDs of the objects among a call's arguments; throws if there is none. An argument is an object, a list of
  /// objects, a relationship or another listing. Objects of other contexts are refused.
  private static func ids(_ call: borrowing LuaCall, in box: ToManyBox) throws -> [ManagedObjectID] {
    guard call.count > 0 else { return [try id(call, at: 0, in: box)] }
    return try (0..<call.count).flatMap { index in
      guard call.isTable(index) || call.objectIfPresent(index, as: ToManyBox.self) != nil else {
        return [try id(call, at: index, in: box)]
      }
      return try HostTypes.objects(of: call, at: index).map { object in
        guard object.managedObjectContext === box.owner.managedObjectContext else {
          throw object.foreignError(in: box.owner.managedObjectContext)
        }
        return object.objectID
      }
    }
  }

  /// The ID of an object argument, which must be in the owner's context. Throws a type error for another kind of value,
  /// and the error of `foreignError(in:)` for an object of another context.
  static func id(_ call: borrowing LuaCall, at index: Int, in box: ToManyBox) throws -> ManagedObjectID {
    guard let object = call.objectIfPresent(index, as: ManagedObject.self) else {
      throw call.typeError(index, expected: "object")
    }
    guard object.managedObjectContext === box.owner.managedObjectContext else {
      throw object.foreignError(in: box.owner.managedObjectContext)
    }
    return object.objectID
  }
}
