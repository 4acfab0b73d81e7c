// swift-format-ignore-file
// Written by `moonbase model swift` of samples. The next run overwrites changes of this file.

import Foundation
import Moonbase

/// An object of the entity SampleAnimal.
class SampleAnimal: ManagedObject {
  override class var keyPaths: [PropertyKeyPath] { keyPathsOfSampleAnimal }

  // Hooks that may be overridden. Saves are faster where overriddenLifecycleMethods names the overridden ones.
  // override class var overriddenLifecycleMethods: LifecycleHooks { [.willSave] }
  // override func awakeFromInsert() throws {}
  // override func awakeFromFetch() throws {}
  // override func awake(fromSnapshotEvents events: SnapshotEventType) throws {}
  // override func willSave() throws {}
  // override func didSave() throws {}
  // override func prepareForDeletion() throws {}
  // override func willTurnIntoFault() throws {}
  // override func didTurnIntoFault() throws {}
  // override func validateForInsert() throws {}
  // override func validateForUpdate() throws {}
  // override func validateForDelete() throws {}
  // override func validateValue(_ value: inout Value, forKey key: String) throws {}
}

nonisolated extension SampleAnimal {
  nonisolated enum Keys {
    static let name = Attribute<SampleAnimal, String>("name")
    static let legs = Attribute<SampleAnimal, Int16>("legs")
  }

  static var keyPathsOfSampleAnimal: [PropertyKeyPath] {
    var paths: [PropertyKeyPath] = []
    paths.append(PropertyKeyPath(\SampleAnimal.name, SampleAnimal.name))
    paths.append(PropertyKeyPath(\SampleAnimal.legs, SampleAnimal.legs))
    return paths
  }

  var name: String {
    get { self[SampleAnimal.Keys.name] }
    set { self[SampleAnimal.Keys.name] = newValue }
  }

  var legs: Int16 {
    get { self[SampleAnimal.Keys.legs] }
    set { self[SampleAnimal.Keys.legs] = newValue }
  }
}

nonisolated extension TypedObject where Self: SampleAnimal {
  static var name: Attribute<Self, String> { .init(SampleAnimal.Keys.name) }
  static var legs: Attribute<Self, Int16> { .init(SampleAnimal.Keys.legs) }
}

/// A person of the samples.
class SamplePerson: SampleAnimal {
  override class var keyPaths: [PropertyKeyPath] { keyPathsOfSamplePerson }

  // Hooks that may be overridden. Saves are faster where overriddenLifecycleMethods names the overridden ones.
  // override class var overriddenLifecycleMethods: LifecycleHooks { super.overriddenLifecycleMethods.union([.willSave]) }
  // override func awakeFromInsert() throws {}
  // override func awakeFromFetch() throws {}
  // override func awake(fromSnapshotEvents events: SnapshotEventType) throws {}
  // override func willSave() throws {}
  // override func didSave() throws {}
  // override func prepareForDeletion() throws {}
  // override func willTurnIntoFault() throws {}
  // override func didTurnIntoFault() throws {}
  // override func validateForInsert() throws {}
  // override func validateForUpdate() throws {}
  // override func validateForDelete() throws {}
  // override func validateValue(_ value: inout Value, forKey key: String) throws {}
}

nonisolated extension SamplePerson {
  nonisolated enum Keys {
    static let born = Attribute<SamplePerson, Date?>("born")
    static let page = Attribute<SamplePerson, URL?>("page")
    static let salary = Attribute<SamplePerson, Decimal?>("salary")
    static let total = Attribute<SamplePerson, Int64?>("total")
    static let kind = Attribute<SamplePerson, SamplePerson.Kind?>("kind")
    static let level = Attribute<SamplePerson, SamplePerson.Level>("level")
    static let status = Attribute<SamplePerson, SampleStatus?>("status")
    static let color = Attribute<SamplePerson, SampleColor?>("color")
    static let `default` = Attribute<SamplePerson, Bool?>("default")
    static let friends = ToMany<SamplePerson, SamplePerson>("friends")
    static let pet = ToOne<SamplePerson, SampleAnimal>("pet")
    static let books = ToMany<SamplePerson, SampleBook>("books")
  }

  /// The values of `kind`.
  nonisolated enum Kind: String, AttributeValue, CaseIterable, Codable {
    case friend
    case bestFriend = "best friend"
    case none_ = "none"

    /// The case for a missing value.
    static var defaultWhenNull: Kind { .bestFriend }
  }

  /// The values of `level`.
  nonisolated enum Level: Int16, AttributeValue, CaseIterable, Codable {
    case minus1 = -1
    case value1 = 1
    case value2 = 2

    /// The case for a missing value.
    static var defaultWhenNull: Level { .value1 }
  }

  static var keyPathsOfSamplePerson: [PropertyKeyPath] {
    var paths: [PropertyKeyPath] = []
    paths.append(PropertyKeyPath(\SamplePerson.name, SamplePerson.name))
    paths.append(PropertyKeyPath(\SamplePerson.legs, SamplePerson.legs))
    paths.append(PropertyKeyPath(\SamplePerson.born, SamplePerson.born))
    paths.append(PropertyKeyPath(\SamplePerson.page, SamplePerson.page))
    paths.append(PropertyKeyPath(\SamplePerson.salary, SamplePerson.salary))
    paths.append(PropertyKeyPath(\SamplePerson.total, SamplePerson.total))
    paths.append(PropertyKeyPath(\SamplePerson.kind, SamplePerson.kind))
    paths.append(PropertyKeyPath(\SamplePerson.level, SamplePerson.level))
    paths.append(PropertyKeyPath(\SamplePerson.status, SamplePerson.status))
    paths.append(PropertyKeyPath(\SamplePerson.color, SamplePerson.color))
    paths.append(PropertyKeyPath(\SamplePerson.`default`, SamplePerson.`default`))
    paths.append(PropertyKeyPath(\SamplePerson.friends, SamplePerson.friends))
    paths.append(PropertyKeyPath(\SamplePerson.pet, SamplePerson.pet))
    paths.append(PropertyKeyPath(\SamplePerson.books, SamplePerson.books))
    return paths
  }

  var born: Date? {
    get { self[SamplePerson.Keys.born] }
    set { self[SamplePerson.Keys.born] = newValue }
  }

  var page: URL? {
    get { self[SamplePerson.Keys.page] }
    set { self[SamplePerson.Keys.page] = newValue }
  }

  var salary: Decimal? {
    get { self[SamplePerson.Keys.salary] }
    set { self[SamplePerson.Keys.salary] = newValue }
  }

  /// Derived: `friends.@count`.
  var total: Int64? { self[SamplePerson.Keys.total] }

  var kind: SamplePerson.Kind? {
    get { self[SamplePerson.Keys.kind] }
    set { self[SamplePerson.Keys.kind] = newValue }
  }

  var level: SamplePerson.Level {
    get { self[SamplePerson.Keys.level] }
    set { self[SamplePerson.Keys.level] = newValue }
  }

  var status: SampleStatus? {
    get { self[SamplePerson.Keys.status] }
    set { self[SamplePerson.Keys.status] = newValue }
  }

  /// A transformed value.
  var color: SampleColor? {
    get { self[SamplePerson.Keys.color] }
    set { self[SamplePerson.Keys.color] = newValue }
  }

  /// A word of Swift.
  var `default`: Bool? {
    get { self[SamplePerson.Keys.`default`] }
    set { self[SamplePerson.Keys.`default`] = newValue }
  }

  var friends: [SamplePerson] {
    get { self[SamplePerson.Keys.friends] }
    set { self[SamplePerson.Keys.friends] = newValue }
  }

  func addToFriends(_ object: SamplePerson) throws { try add(object, to: "friends") }
  func removeFromFriends(_ object: SamplePerson) throws { try remove(object, from: "friends") }
  func addToFriends(_ objects: some Sequence<SamplePerson>) throws {
    try mutableSet(SamplePerson.Keys.friends).formUnion(objects)
  }
  func removeFromFriends(_ objects: some Sequence<SamplePerson>) throws {
    try mutableSet(SamplePerson.Keys.friends).subtract(objects)
  }

  var pet: SampleAnimal? {
    get { self[SamplePerson.Keys.pet] }
    set { self[SamplePerson.Keys.pet] = newValue }
  }

  var books: [SampleBook] {
    get { self[SamplePerson.Keys.books] }
    set { self[SamplePerson.Keys.books] = newValue }
  }

  func addToBooks(_ object: SampleBook) throws { try add(object, to: "books") }
  func removeFromBooks(_ object: SampleBook) throws { try remove(object, from: "books") }
  func addToBooks(_ objects: some Sequence<SampleBook>) throws {
    try mutableOrderedSet(SamplePerson.Keys.books).append(contentsOf: objects)
  }
  func removeFromBooks(_ objects: some Sequence<SampleBook>) throws {
    try objects.forEach { try remove($0, from: "books") }
  }
  func insertIntoBooks(_ object: SampleBook, at index: Int) throws {
    try mutableOrderedSet(SamplePerson.Keys.books).insert(object, at: index)
  }
  func removeFromBooks(at index: Int) throws { _ = try mutableOrderedSet(SamplePerson.Keys.books).remove(at: index) }
  func replaceBooks(at index: Int, with object: SampleBook) throws {
    try mutableOrderedSet(SamplePerson.Keys.books).replace(at: index, with: object)
  }

  /// Fetched: legs == 2
  var bipeds: [SamplePerson] {
    get throws {
      try fetchedObjects(forKey: "bipeds").compactMap { $0 as? SamplePerson }
    }
  }
}

nonisolated extension TypedObject where Self: SamplePerson {
  static var born: Attribute<Self, Date?> { .init(SamplePerson.Keys.born) }
  static var page: Attribute<Self, URL?> { .init(SamplePerson.Keys.page) }
  static var salary: Attribute<Self, Decimal?> { .init(SamplePerson.Keys.salary) }
  static var total: Attribute<Self, Int64?> { .init(SamplePerson.Keys.total) }
  static var kind: Attribute<Self, SamplePerson.Kind?> { .init(SamplePerson.Keys.kind) }
  static var level: Attribute<Self, SamplePerson.Level> { .init(SamplePerson.Keys.level) }
  static var status: Attribute<Self, SampleStatus?> { .init(SamplePerson.Keys.status) }
  static var color: Attribute<Self, SampleColor?> { .init(SamplePerson.Keys.color) }
  static var `default`: Attribute<Self, Bool?> { .init(SamplePerson.Keys.`default`) }
  static var friends: ToMany<Self, SamplePerson> { .init(SamplePerson.Keys.friends) }
  static var pet: ToOne<Self, SampleAnimal> { .init(SamplePerson.Keys.pet) }
  static var books: ToMany<Self, SampleBook> { .init(SamplePerson.Keys.books) }
}

/// An object of the entity SampleBook.
class SampleBook: ManagedObject {
  override class var keyPaths: [PropertyKeyPath] { keyPathsOfSampleBook }

  // Hooks that may be overridden. Saves are faster where overriddenLifecycleMethods names the overridden ones.
  // override class var overriddenLifecycleMethods: LifecycleHooks { [.willSave] }
  // override func awakeFromInsert() throws {}
  // override func awakeFromFetch() throws {}
  // override func awake(fromSnapshotEvents events: SnapshotEventType) throws {}
  // override func willSave() throws {}
  // override func didSave() throws {}
  // override func prepareForDeletion() throws {}
  // override func willTurnIntoFault() throws {}
  // override func didTurnIntoFault() throws {}
  // override func validateForInsert() throws {}
  // override func validateForUpdate() throws {}
  // override func validateForDelete() throws {}
  // override func validateValue(_ value: inout Value, forKey key: String) throws {}
}

nonisolated extension SampleBook {
  nonisolated enum Keys {
    static let title = Attribute<SampleBook, String?>("title")
    static let author = ToOne<SampleBook, SamplePerson>("author")
  }

  static var keyPathsOfSampleBook: [PropertyKeyPath] {
    var paths: [PropertyKeyPath] = []
    paths.append(PropertyKeyPath(\SampleBook.title, SampleBook.title))
    paths.append(PropertyKeyPath(\SampleBook.author, SampleBook.author))
    return paths
  }

  var title: String? {
    get { self[SampleBook.Keys.title] }
    set { self[SampleBook.Keys.title] = newValue }
  }

  var author: SamplePerson? {
    get { self[SampleBook.Keys.author] }
    set { self[SampleBook.Keys.author] = newValue }
  }
}

nonisolated extension TypedObject where Self: SampleBook {
  static var title: Attribute<Self, String?> { .init(SampleBook.Keys.title) }
  static var author: ToOne<Self, SamplePerson> { .init(SampleBook.Keys.author) }
}

/// The classes of the model, and its fetch requests.
///
///     PersistentContainer(model: SamplesClasses.model, store: store, classes: SamplesClasses.byName)
nonisolated enum SamplesClasses {
  /// Each class by the name that the model has for it.
  static var byName: [String: ManagedObject.Type] {
    [
      "SampleAnimal": SampleAnimal.self,
      "App.SamplePerson": SamplePerson.self,
      "SampleBook": SampleBook.self,
    ]
  }

  /// The model as it was when the classes were made, with a class for each entity.
  static var model: ManagedObjectModel {
    get throws { try LuaModelFile().read(ScriptSource(name: "samples", text: source)) }
  }

  private static let source: String = #"""
    return {
      entities = {
        SampleAnimal = {
          class = "SampleAnimal",
          abstract = true,
          attributes = {
            name = { "string", optional = false, default = "" },
            legs = { "integer16", default = 4, scalar = true },
          },
        },
        SamplePerson = {
          parent = "SampleAnimal",
          class = "App.SamplePerson",
          attributes = {
            born = "date",
            page = "uri",
            salary = "decimal",
            total = { "integer64", derivation = "friends.@count" },
            kind = { "string", default = "best friend", one_of = { "friend", "best friend", "none" } },
            level = { "integer16", optional = false, default = 1, one_of = { -1, 1, 2 } },
            status = { "string", swift = "SampleStatus" },
            color = { "transformable", swift = "SampleColor" },
            default = {
              "boolean",
              user_info = { documentation = "A word of Swift." },
            },
          },
          relationships = {
            friends = { to_many = "SamplePerson", inverse = "friends" },
            pet = { to = "SampleAnimal" },
            books = { to_many = "SampleBook", inverse = "author", ordered = true },
          },
          fetched_properties = { bipeds = { "SamplePerson", "legs == 2" } },
          user_info = { documentation = "A person of the samples." },
        },
        SampleBook = {
          class = "SampleBook",
          attributes = { title = "string" },
          relationships = {
            author = { to = "SamplePerson", inverse = "books" },
          },
        },
      },
      fetch_requests = {
        named = { "SamplePerson", "name == $NAME" },
      },
    }
    """#

  /// The model with a class for each entity that names none.
  static func named(_ model: ManagedObjectModel) -> ManagedObjectModel {
    let names: [String: String] = [
      "SampleBook": "SampleBook",
    ]
    var model = model
    for index in model.entities.indices {
      if let name = names[model.entities[index].name] { model.entities[index].managedObjectClassName = name }
    }
    return model
  }

  /// `name == $NAME`
  static func named_(
    name: Value, in context: ManagedObjectContext
  ) throws -> FetchRequest {
    try context.fetchRequest(
      fromTemplate: "named", substituting: ["NAME": name])
  }
}
