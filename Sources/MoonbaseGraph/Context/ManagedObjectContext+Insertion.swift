public import MoonbaseModel

/// Making new objects. A new object has a temporary ID until it is saved or gets a permanent one.
extension ManagedObjectContext {
  /// Makes a new object with the entity's default values.
  ///
  /// Throws for an unknown or abstract entity, and the error of an awake-from-insert hook.
  @discardableResult
  public func insert(_ entityName: String) throws -> ManagedObject { try insert(entity(entityName)) }

  /// Makes a new object and sets its properties. After an error nothing is inserted or changed. Throws the errors of
  /// `setValue`.
  @discardableResult
  public func insert(_ entityName: String, values: [String: Value]) throws -> ManagedObject {
    try changingTogether {
      let object = try insert(entityName)
      for (key, value) in values { try object.setValue(value, forKey: key) }
      return object
    }
  }

  /// Makes a new object with values of Swift types: `["name": name, "department": department, "born": nil]`.
  @_disfavoredOverload
  @discardableResult
  public func insert(_ entityName: String, values: ConvertibleValues) throws -> ManagedObject {
    try insert(entityName, values: [String: Value](values))
  }

  /// Makes a new object of a Swift class and sets its properties. After an error nothing is inserted or changed.
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

  /// Makes a new object with values of Swift types: `["name": name, "department": department, "born": nil]`.
  @_disfavoredOverload
  @discardableResult
  public func insert<Object: ManagedObject>(_ type: Object.Type, values: ConvertibleValues) throws -> Object {
    try insert(type, values: [String: Value](values))
  }

  /// Makes a new object of an entity. Throws `.invalidRequest` for an abstract entity, and errors of hooks.
  package func insert(_ entity: ResolvedEntity) throws -> ManagedObject {
    let place = try reserveNewObject(of: entity)
    let object = try objectClass(of: place.table).init(place)
    try takeIn(object)
    return object
  }

  /// Checks that a new object may be made, and reserves its ID. Throws `.invalidRequest` and `.contextBusy`.
  @inline(__always)
  func reserveNewObject(of entity: ResolvedEntity) throws -> ManagedObject.InitializationToken {
    try refuseWhileValidating("an object was inserted")
    try refuseWithinGetters("an object was inserted")
    guard !entity.isAbstract else {
      throw GraphError(
        .invalidRequest, message: "\(entity.name) is abstract: insert one of its subentities", entity: entity.name)
    }
    let id = temporaryID(for: entity)
    return ManagedObject.InitializationToken(table: table(of: id.kind, entity: entity), key: id.key, state: .inserted)
  }

  /// Inserts an object that was just made, and runs its awake-from-insert hooks. If a hook fails, the insertion is
  /// undone.
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
      // An object that deleted itself needs no further hooks, and may have left the context.
      for entry in behavior.extensions where object.context === self && !object.isDeleted {
        try object.run("awakeFromInsert", hook: entry.awakeFromInsert)
      }
    }
  }

  /// Registers a new object as inserted, with default values. The caller notifies observers.
  func begin(_ object: ManagedObject) {
    record(.absence, of: object)
    object.takeInitialValues(in: journal.current)
    if object.mark(nil, as: .listed) { changedObjects.append(object) }
    if derivations.hasListeners { tellListeners(of: CollectionOfOne(object.objectID)) }
    changeCount &+= 1
  }
}

/// Insertion by the class.
extension ManagedObject {
  /// Makes a new object of this class, with the entity's default values.
  ///
  /// The model names the class (`managedObjectClassName`), under which the coordinator or container has it registered.
  /// Throws if no entity or several entities have the class, for an abstract entity, and the error of an
  /// awake-from-insert hook.
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
    self.init(try context.reserveNewObject(of: entity))
    try context.takeIn(self)
  }
}

/// Questions about the hooks of an entity, for code that skips steps without hooks.
extension ManagedObjectContext {
  /// Whether inserting an object of an entity calls no hook and no accessor, so that an unwanted insertion leaves no
  /// trace.
  package func insertsWithoutHooks(_ entity: ResolvedEntity) throws -> Bool {
    let behavior = try behavior(of: entity)
    return !behavior.hasAwakeFromInsert && behavior.accessors.isEmpty
  }

  /// Whether reading a saved object, or assigning equal values to it, calls no hook and no accessor.
  package func readsWithoutHooks(_ entity: ResolvedEntity) throws -> Bool {
    let behavior = try behavior(of: entity)
    return !behavior.hasAwakeFromFetch && behavior.accessors.isEmpty
  }

  /// Whether a `willSave` hook may change objects of an entity or its subentities.
  package func changesWhenSaving(_ entity: ResolvedEntity) throws -> Bool {
    try entity.subtree.contains { try behavior(of: model.entities[$0]).hasWillSave }
  }
}
