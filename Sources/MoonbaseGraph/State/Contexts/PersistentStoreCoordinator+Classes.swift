import MoonbaseModel

extension PersistentStoreCoordinator {
  /// Registers the Swift class for entities whose model names `className`.
  public func register(_ type: ManagedObject.Type, forClassName className: String) {
    setClass(type, named: className)
  }

  /// The class of an entity's objects. The model may name the class with its module (`App.Person`) or without.
  func objectClass(of entity: ResolvedEntity) -> ManagedObject.Type {
    guard let name = entity.description.managedObjectClassName else { return ManagedObject.self }
    let plain = name.split(separator: ".").last.map(String.init) ?? name
    let known: AnyObject.Type? = objectClass(named: name) ?? objectClass(named: plain)
    return known as? ManagedObject.Type ?? ManagedObject.self
  }
}
