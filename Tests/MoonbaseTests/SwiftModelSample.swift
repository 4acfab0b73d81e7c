// swift-format-ignore-file
// Written by `moonbase model swift` of samples: written anew, it loses what was changed here.

import Foundation
import Moonbase

/// An object of the entity SampleAnimal.
class SampleAnimal: ManagedObject {
  override class var keyPaths: [PropertyKeyPath] { keyPathsOfSampleAnimal }

  // Hooks that may be overridden. Where hooks is overridden too, it names all of them, and saves are faster.
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

extension SampleAnimal {
  static let name = Attribute<SampleAnimal, String>("name")
  static let legs = Attribute<SampleAnimal, Int16>("legs")

  static var keyPathsOfSampleAnimal: [PropertyKeyPath] {
    var paths: [PropertyKeyPath] = []
    paths.append(PropertyKeyPath(\SampleAnimal.name, SampleAnimal.name))
    paths.append(PropertyKeyPath(\SampleAnimal.legs, SampleAnimal.legs))
    return paths
  }

  var name: String {
    get { self[SampleAnimal.name] }
    set { self[SampleAnimal.name] = newValue }
  }

  var legs: Int16 {
    get { self[SampleAnimal.legs] }
    set { self[SampleAnimal.legs] = newValue }
  }
}

/// A person of the samples.
class SamplePerson: SampleAnimal {
  override class var keyPaths: [PropertyKeyPath] { keyPathsOfSamplePerson }

  // Hooks that may be overridden. Where hooks is overridden too, it names all of them, and saves are faster.
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

extension SamplePerson {
  static let born = Attribute<SamplePerson, Date?>("born")
  static let page = Attribute<SamplePerson, URL?>("page")
  static let salary = Attribute<SamplePerson, Decimal?>("salary")
  static let total = Attribute<SamplePerson, Int64?>("total")
  static let `default` = Attribute<SamplePerson, Bool?>("default")
  static let friends = ToMany<SamplePerson, SamplePerson>("friends")
  static let pet = ToOne<SamplePerson, SampleAnimal>("pet")
  static let books = ToMany<SamplePerson, SampleBook>("books")

  static var keyPathsOfSamplePerson: [PropertyKeyPath] {
    var paths: [PropertyKeyPath] = []
    paths.append(PropertyKeyPath(\SamplePerson.name, SamplePerson.name))
    paths.append(PropertyKeyPath(\SamplePerson.legs, SamplePerson.legs))
    paths.append(PropertyKeyPath(\SamplePerson.born, SamplePerson.born))
    paths.append(PropertyKeyPath(\SamplePerson.page, SamplePerson.page))
    paths.append(PropertyKeyPath(\SamplePerson.salary, SamplePerson.salary))
    paths.append(PropertyKeyPath(\SamplePerson.total, SamplePerson.total))
    paths.append(PropertyKeyPath(\SamplePerson.`default`, SamplePerson.`default`))
    paths.append(PropertyKeyPath(\SamplePerson.friends, SamplePerson.friends))
    paths.append(PropertyKeyPath(\SamplePerson.pet, SamplePerson.pet))
    paths.append(PropertyKeyPath(\SamplePerson.books, SamplePerson.books))
    return paths
  }

  var born: Date? {
    get { self[SamplePerson.born] }
    set { self[SamplePerson.born] = newValue }
  }

  var page: URL? {
    get { self[SamplePerson.page] }
    set { self[SamplePerson.page] = newValue }
  }

  var salary: Decimal? {
    get { self[SamplePerson.salary] }
    set { self[SamplePerson.salary] = newValue }
  }

  /// Derived: `friends.@count`.
  var total: Int64? { self[SamplePerson.total] }

  /// A word of Swift.
  var `default`: Bool? {
    get { self[SamplePerson.`default`] }
    set { self[SamplePerson.`default`] = newValue }
  }

  var friends: [SamplePerson] {
    get { self[SamplePerson.friends] }
    set { self[SamplePerson.friends] = newValue }
  }

  func addToFriends(_ object: SamplePerson) throws { try add(object, to: "friends") }
  func removeFromFriends(_ object: SamplePerson) throws { try remove(object, from: "friends") }
  func addToFriends(_ objects: some Sequence<SamplePerson>) throws {
    try mutableSet(SamplePerson.friends).formUnion(objects)
  }
  func removeFromFriends(_ objects: some Sequence<SamplePerson>) throws {
    try mutableSet(SamplePerson.friends).subtract(objects)
  }

  var pet: SampleAnimal? {
    get { self[SamplePerson.pet] }
    set { self[SamplePerson.pet] = newValue }
  }

  var books: [SampleBook] {
    get { self[SamplePerson.books] }
    set { self[SamplePerson.books] = newValue }
  }

  func addToBooks(_ object: SampleBook) throws { try add(object, to: "books") }
  func removeFromBooks(_ object: SampleBook) throws { try remove(object, from: "books") }
  func addToBooks(_ objects: some Sequence<SampleBook>) throws {
    try mutableOrderedSet(SamplePerson.books).append(contentsOf: objects)
  }
  func removeFromBooks(_ objects: some Sequence<SampleBook>) throws {
    try objects.forEach { try remove($0, from: "books") }
  }
  func insertIntoBooks(_ object: SampleBook, at index: Int) throws {
    try mutableOrderedSet(SamplePerson.books).insert(object, at: index)
  }
  func removeFromBooks(at index: Int) throws { _ = try mutableOrderedSet(SamplePerson.books).remove(at: index) }
  func replaceBooks(at index: Int, with object: SampleBook) throws {
    try mutableOrderedSet(SamplePerson.books).replace(at: index, with: object)
  }

  /// Fetched: legs == 2
  var bipeds: [SamplePerson] {
    get throws {
      try fetchedObjects(forKey: "bipeds").compactMap { $0 as? SamplePerson }
    }
  }
}

/// An object of the entity SampleBook.
class SampleBook: ManagedObject {
  override class var keyPaths: [PropertyKeyPath] { keyPathsOfSampleBook }

  // Hooks that may be overridden. Where hooks is overridden too, it names all of them, and saves are faster.
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

extension SampleBook {
  static let title = Attribute<SampleBook, String?>("title")
  static let author = ToOne<SampleBook, SamplePerson>("author")

  static var keyPathsOfSampleBook: [PropertyKeyPath] {
    var paths: [PropertyKeyPath] = []
    paths.append(PropertyKeyPath(\SampleBook.title, SampleBook.title))
    paths.append(PropertyKeyPath(\SampleBook.author, SampleBook.author))
    return paths
  }

  var title: String? {
    get { self[SampleBook.title] }
    set { self[SampleBook.title] = newValue }
  }

  var author: SamplePerson? {
    get { self[SampleBook.author] }
    set { self[SampleBook.author] = newValue }
  }
}

/// The classes of the model, and its fetch requests.
///
///     PersistentContainer(model: model, store: store, classes: SamplesClasses.byName)
enum SamplesClasses {
  /// Each class by the name that the model has for it.
  static var byName: [String: ManagedObject.Type] {
    [
      "SampleAnimal": SampleAnimal.self,
      "App.SamplePerson": SamplePerson.self,
      "SampleBook": SampleBook.self,
    ]
  }

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
