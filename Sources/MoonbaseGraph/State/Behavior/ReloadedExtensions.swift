import MoonbaseModel

/// A provider whose extensions can be reloaded while contexts use them.
package protocol ReloadedExtensions: ExtensionProvider {
  /// Whether the provider has a newer generation than the registry, which the registry has not refused yet.
  func isNewer(than registry: ExtensionRegistry) -> Bool
  /// Lets a context, and all that share its registry, adopt the newest generation. After an error they keep the old
  /// one.
  func bringUpToDate(_ context: ManagedObjectContext)
  /// Lets a context, and all that share its registry, adopt the newest generation, or throws and changes nothing.
  func adopt(in context: ManagedObjectContext) throws
}

extension ExtensionRegistry {
  /// Whether none of the registry's contexts is in the middle of some work.
  var isAtRest: Bool { all.allSatisfy { $0.lifetime.isClosed || $0.isAtRest } }
}
