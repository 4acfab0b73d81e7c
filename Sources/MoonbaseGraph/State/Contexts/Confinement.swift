import MoonbaseModel
import MoonbasePlatform

/// The executor on which a context and its objects may be used, for debugging of illegal uses.
///
/// The compiler keeps them on their executor, except in code that it does not check: Swift 5 mode,
/// `@unchecked Sendable` and `nonisolated(unsafe)`. With `MOONBASE_CONCURRENCY_DEBUG=1` in the environment, each use of
/// an object or a context of a background context or the main actor is checked. A use elsewhere ends the process with a
/// message that names object, context and thread, as Core Data's `-com.apple.CoreData.ConcurrencyDebug 1` does. Without
/// the variable nothing is checked.
struct Confinement: Sendable {
  /// Whether uses are checked in this process.
  static let isChecked = ProcessInfo.processInfo.environment["MOONBASE_CONCURRENCY_DEBUG"] == "1"

  /// The executor's name, for messages.
  let name: String
  /// Whether the calling code runs on the executor.
  let isCurrent: @Sendable () -> Bool

  static let mainActor = Confinement(name: "the main actor") { Thread.isMainThread }

  /// Ends the process with a message about a use on the wrong executor.
  func fail(_ what: String) -> Never {
    let thread = Thread.isMainThread ? "the main thread" : "the thread '\(Thread.current.name ?? "")'"
    fatalError(
      """
      \(what) was used on \(thread), but belongs to \(name): hand over its objectID or values, and use it within perform, or on the \
      main actor if it is that one's
      """)
  }
}

extension Confinement {
  /// Ends the process if a result or an error of `perform` contains an object or a context.
  ///
  /// The compiler refuses objects there, but accepts lazy sequences over objects, `Any` and errors.
  static func checkLeaving<Leaving>(_ value: Leaving) {
    guard isChecked else { return }
    var rest = 1000
    guard let found = object(in: value, depth: 8, &rest) else { return }
    fatalError(
      """
      a value of type \(type(of: value as Any)) that holds \(found) left the perform of its context: hand over its objectID or values, and make an \
      array of a lazy sequence
      """)
  }

  /// The description of an object or a context within a value; nil if there is none.
  private static func object(in value: Any, depth: Int, _ rest: inout Int) -> String? {
    if let object = value as? ManagedObject {
      return object.context == nil ? nil : "\(object.entity.name) \(object.objectID)"
    }
    if value is ManagedObjectContext { return "the context" }
    rest -= 1
    guard depth > 0, rest > 0 else { return nil }
    for child in Mirror(reflecting: value).children {
      if let found = object(in: child.value, depth: depth - 1, &rest) { return found }
    }
    return nil
  }
}
