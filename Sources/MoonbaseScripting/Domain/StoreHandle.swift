public import MoonbaseGraph

/// The result of opening a container: the coordinator of its stores, and the extensions of its contexts.
///
/// `ContainerOpener` returns one, so that this layer knows neither kinds of stores nor `PersistentContainer`.
public struct StoreHandle {
  /// The coordinator of the stores.
  public var coordinator: PersistentStoreCoordinator
  /// The extensions.
  public var extensions: ScriptExtensions

  /// Makes a pair.
  public init(coordinator: PersistentStoreCoordinator, extensions: ScriptExtensions) {
    self.coordinator = coordinator
    self.extensions = extensions
  }
}
