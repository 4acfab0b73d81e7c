import Foundation
import MoonbaseGraph

/// Keeps the view context of a container, and releases it on the main actor, where its objects are used.
///
/// Any task may release the last reference to a container.
final class ViewContextOwner: Sendable {
  @MainActor var context: ManagedObjectContext? {
    get { stored }
    set { stored = newValue }
  }
  private nonisolated(unsafe) var stored: ManagedObjectContext?  // sound: only the main actor and `deinit` use it

  deinit {
    guard let stored, !Thread.isMainThread else { return }
    nonisolated(unsafe) let last = stored  // sound: the main actor alone uses it from here on
    Task { @MainActor in withExtendedLifetime(last) {} }
  }
}
