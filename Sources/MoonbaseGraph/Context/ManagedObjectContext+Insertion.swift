public import MoonbaseModel

extension ManagedObjectContext {
  /// Makes a new object with the entity's default values.
  ///
  /// Throws for an unknown or abstract entity, and what an awake-from-insert hook throws.
  @discardableResult
  public func insert(_ entityName: String) throws -> ManagedObject { try insert(entity(entityName)) }

  /// Makes a new object and sets its properties. On an error the object is not inserted, and others are as they were.
  @discardableResult
  public func insert(_ entityName: String, values: [String: Value]) throws -> ManagedObject {
    try changingTogether {
      let object = try insert(entityName)
      for (key, value) in values { try object.setValue(value, forKey: key) }
      return object
    }
  }

  /// Makes a new object with values of Swift's types: `["name": name, "department": department, "born": nil]`.
  @_disfavoredOverload
  @discardableResult
  public func insert(_ entityName: String, values: ConvertibleValues) throws -> ManagedObject {
    try insert(entityName, values: [String: Value](values))
  }

  /// Makes a new object of the entity whose class this is, and sets its properties. On an error the object is not inserted.
  ///
  /// ```swift
  /// let ann = try context.insert(Person.self, values: ["name": "Ann"])
  /// ```
  @discardableResult
  public func insert<Object: ManagedObject>(_ type: Object.Type, values: [String: Value] = [:]) throws -> Object {
    let entity = try entity(of: type)
    guard !values.isEmpty else { return try typed(insert(entity)) }
    return try changingTogether {
      let object = try insert(entity)
      for (key, value) in values { try object.setValue(value, forKey: key) }
      return try typed(object)
    }
  }

  /// Makes a new object with values of Swift's types: `["name": name, "department": department, "born": nil]`.
  @_disfavoredOverload
  @discardableResult
  public func insert<Object: ManagedObject>(_ type: Object.Type, values: ConvertibleValues) throws -> Object {
    try insert(type, values: [String: Value](values))
  }

  package func insert(_ entity: ResolvedEntity) throws -> ManagedObject {
    let place = try placeForNewObject(of: entity)
    let object = try objectClass(of: place.table).init(place)
    try takeIn(object)
    return object
  }

  /// The place of an object that is about to be made.
  @inline(__always)
  func placeForNewObject(of entity: ResolvedEntity) throws -> ManagedObject.ContextPlace {
    try refuseWhileValidating("an object was inserted")
    try refuseWithinGetters("an object was inserted")
    guard !entity.isAbstract else {
      throw GraphError(
        .invalidRequest, message: "\(entity.name) is abstract: insert one of its subentities", entity: entity.name)
    }
    let id = temporaryID(for: entity)
    return ManagedObject.ContextPlace(table: table(of: id.kind, entity: entity), key: id.key, state: .inserted)
  }

  /// An object that was just made is a new one of this context. Where a hook fails it is none.
  func takeIn(_ object: ManagedObject) throws {
    object.beginWeighing()
    let behavior = try behavior(of: object.entity)
    defer { tellObservers() }
    guard behavior.hasAwakeFromInsert else { return begin(object) }
    try undoingOnFailure {
      begin(object)
      if behavior.hooks.contains(.awakeFromInsert) {
        try object.running("awakeFromInsert") { try object.awakeFromInsert() }
      }
      // One that deleted itself has nothing to be set any more, and may be gone already.
      for entry in behavior.extensions where object.context === self && !object.isDeleted {
        try object.run("awakeFromInsert", hook: entry.awakeFromInsert)
      }
    }
  }

  /// An object is a new one, with the values of its model.
  func begin(_ object: ManagedObject) {
    record(.absence, of: object)
    object.takeInitialValues(in: journal.current)
    if object.mark(nil, as: .listed) { changedObjects.append(object) }
    if derivations.hasListeners { tellListeners(of: CollectionOfOne(object.objectID)) }
    changeCount &+= 1
  }
}

extension ManagedObject {
  /// Makes a new object of the entity whose class this is, with the entity's default values.
  ///
  /// The model names the class (`managedObjectClassName`), and the coordinator or container knows it by that name. Throws where no
  /// entity, or more than one, has the class, for an abstract entity, and what an awake-from-insert hook throws.
  ///
  /// ```swift
  /// let ann = try Person(context: context)
  /// ```
  public convenience init(context: ManagedObjectContext) throws {
    let entity = try context.entity(of: Self.self)
    guard try context.behavior(of: entity).objectClass == Self.self else {
      throw GraphError(
        .invalidObject,
        message:
          "\(entity.name): its class \(Self.self) was registered after the context had made objects of it: do it before",
        entity: entity.name)
    }
    self.init(try context.placeForNewObject(of: entity))
    try context.takeIn(self)
  }
}

extension ManagedObjectContext {
  /// Whether a new object of an entity has nobody who hears of it before it is saved, so that nothing but itself has to go if it is not wanted.
  package func insertsPlainly(_ entity: ResolvedEntity) throws -> Bool {
    let behavior = try behavior(of: entity)
    return !behavior.hasAwakeFromInsert && behavior.accessors.isEmpty
  }

  /// Whether an assignment of equal values to a saved object, or reading the object, calls no hook and no observer.
  package func comparesPlainly(_ entity: ResolvedEntity) throws -> Bool {
    let behavior = try behavior(of: entity)
    return !behavior.hasAwakeFromFetch && behavior.accessors.isEmpty
  }

  /// Whether a hook of a save may change objects of an entity or of its subentities.
  package func changesWhenSaving(_ entity: ResolvedEntity) throws -> Bool {
    try entity.subtree.contains { try behavior(of: model.entities[$0]).hasWillSave }
  }
}
