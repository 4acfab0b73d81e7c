import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Writes objects as a tree. The destinations of an object's relationships are indented below it.
///
/// `moonbase fetch --tree PATHS` uses it. Each line has an ID and the values of an object. Objects
/// are read and printed one after the other, so that a large result needs little memory.
///
/// ```text
/// Department/1  name: Sales
///   employees: Person/3  name: Ann
///   employees: Person/7  name: Bob
/// ```
struct TreeOutput {
  /// The number of objects of a relationship that are shown. The others are counted.
  private static let greatestCount = 100

  /// A relationship to follow, and the relationships to follow from its destinations.
  ///
  /// The paths `a.b` and `a.c` share the branch `a`, so that the objects of `a` are printed once.
  private final class Branch {
    /// The name of the relationship. It is empty for the root.
    let name: String
    /// The relationships to follow further, in the order of the command line.
    var branches: [Branch] = []

    init(_ name: String) { self.name = name }

    /// Returns the branch for a relationship, and creates the branch if it does not exist.
    func branch(_ name: String) -> Branch {
      if let known = branches.first(where: { $0.name == name }) { return known }
      let new = Branch(name)
      branches.append(new)
      return new
    }
  }

  /// The request for the objects of the top level.
  private let request: FetchRequest
  /// The tree of all paths. It stands for the objects of the top level.
  private let root = Branch("")
  /// The columns of the objects at the top level, or nil for their attributes.
  private let columns: [String]?
  /// How IDs and dates are written.
  private let form: OutputForm
  /// The context that loads the objects.
  private let context: ManagedObjectContext

  /// Parses the paths and checks that every part is a relationship.
  ///
  /// - Parameters:
  ///   - request: The request for the objects of the top level.
  ///   - paths: The paths, separated by commas, such as `department.company,friends`.
  ///   - columns: The attributes to print at the top level, or nil for all.
  ///   - form: The form of IDs and dates.
  ///   - context: The context that loads the objects.
  /// - Throws: `.unknownName` for a name that the entity does not have, and a `UsageError` for
  ///   an attribute.
  init(
    _ request: FetchRequest, _ paths: String, columns: [String]?, form: OutputForm, in context: ManagedObjectContext
  ) throws {
    (self.request, self.columns, self.form, self.context) = (request, columns, form, context)
    guard let entity = context.model.entity(request.entityName) else {
      throw GraphError.unknownEntity(request.entityName, in: context.model)
    }
    if let columns { _ = try FetchColumns(columns, of: entity.name, in: context.model) }
    for path in FetchColumns.names(paths) { try add(path, from: entity) }
  }

  /// Adds one path to the tree of branches.
  private func add(_ path: String, from start: ResolvedEntity) throws {
    var (branch, entity) = (root, start)
    for name in path.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
      guard let property = entity.property(name) else { throw GraphError.unknownProperty(name, of: entity, id: nil) }
      guard let relationship = property.relationship else {
        throw UsageError(
          "--tree follows relationships, and \(entity.name).\(name) is an attribute: name it in --columns")
      }
      branch = branch.branch(name)
      entity = context.model.entities[relationship.destination]
    }
  }

  /// Prints the objects in the order of the request. An object that another process deleted
  /// meanwhile is skipped.
  func run() throws {
    let found = try context.fetchedObjects(request)
    var place = 0
    while try found.reaches(place) {
      if let object = try found.existingObject(at: place) { try write(object, "", root, depth: 0) }
      place += 1
    }
  }

  /// Prints one object, and then the destinations of its relationships, indented by two more spaces
  /// per level.
  ///
  /// - Parameters: - object: The object to print. - name: The relationship whose destination the
  /// object is, or an empty text at the top level. - branch: The relationships to follow. - depth:
  /// The level, from 0.
  private func write(_ object: ManagedObject, _ name: String, _ branch: Branch, depth: Int) throws {
    let indent = String(repeating: "  ", count: depth)
    let label = name.isEmpty ? "" : "\(name): "
    Terminal.print("\(indent)\(label)\(id(of: object))  \(try values(of: object, isTop: depth == 0))")
    for next in branch.branches {
      let members = try members(of: object, next.name)
      for member in members.prefix(Self.greatestCount) { try write(member, next.name, next, depth: depth + 1) }
      if members.count > Self.greatestCount {
        Terminal.print("\(indent)  \(next.name): and \(members.count - Self.greatestCount) more")
      }
    }
  }

  /// The ID of an object, short such as `Person/12` or as a URI.
  private func id(of object: ManagedObject) -> String {
    form.hasShortIDs ? object.objectID.short : object.objectID.uriRepresentation
  }

  /// The destinations of a relationship. A to-one relationship gives a list with at most one
  /// object.
  private func members(of object: ManagedObject, _ name: String) throws -> [ManagedObject] {
    guard object.entity.property(name)?.relationship?.isToMany == true else {
      guard case .objectID(let id) = try object.value(forKey: name) else { return [] }
      return try context.existingObject(with: id).map { [$0] } ?? []
    }
    guard case .list(let list) = try object.value(forKeyPath: name) else { return [] }
    return try list.compactMap { value in
      guard case .objectID(let id) = value else { return nil }
      return try context.existingObject(with: id)
    }
  }

  /// The columns that have a value, such as `name: Ann, age: 3`.
  ///
  /// Null values are left out, so that a line stays short. All columns of the top level may be
  /// selected, but deeper levels always show their own attributes.
  private func values(of object: ManagedObject, isTop: Bool) throws -> String {
    let names = isTop ? columns : nil
    let own = object.entity.attributeSlots.map { object.entity.properties[$0] }.filter { !$0.isTransient }.map(\.name)
    return try (names ?? own).filter { $0 != FetchColumns.id }.compactMap { name in
      let value = try object.value(forKeyPath: name)
      return value.isNull ? nil : "\(name): \(text(value))"
    }.joined(separator: ", ")
  }

  /// The text of a value on one line. Long values are cut.
  private func text(_ value: Value) -> String {
    let value = form.hasShortIDs ? value.withShortIDs : value
    if case .date(let date) = value { return form.textForPeople(of: date) }
    return (value.beginning ?? value.description).inOneLine
  }
}
