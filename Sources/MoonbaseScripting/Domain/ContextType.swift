import MoonbaseModel
import MoonbasePlatform
import MoonbaseGraph
import MoonbaseLua

/// A script's handle of a context. The reference is weak, because an app's context owns the Lua state that holds the
/// handle.
final class ContextBox {
  private let reference: ContextReference
  /// The script function last set as the context's merge policy, which the context retains.
  weak var mergePolicy: ScriptMergePolicy?

  init(_ context: ManagedObjectContext) { reference = context.reference }

  /// Whether a script closed the context.
  var wasClosed = false

  var isGone: Bool { reference.isGone }

  /// `context of /path/a.sqlite (2 inserted, 1 updated and 0 deleted objects)`.
  var text: String {
    reference.context.map { "context of \(Self.stores(of: $0)) (\($0.changesToShow))" } ?? "context (gone)"
  }

  private static func stores(of context: ManagedObjectContext) -> String {
    let names = context.coordinator.persistentStores.prefix(4).map { $0.url?.path ?? "a store in memory" }
    return names.isEmpty ? "no store" : (names.prefix(3) + (names.count > 3 ? ["…"] : [])).joined(separator: ", ")
  }

  func live() throws -> ManagedObjectContext {
    if let context = reference.context { return context }
    throw goneError
  }

  /// Throws if the context no longer exists.
  func check() throws { if isGone { throw goneError } }

  private var goneError: ScriptError {
    ScriptError(
      .invalidRequest,
      message: wasClosed
        ? "the context was closed by its method close: take one that is open"
        : "the context is gone: its owner let go of it, or its stores were closed")
  }
}

/// The type of contexts in a Lua state. Each context has a single handle there.
final class ContextType {
  let plain = LuaHostType<ContextBox>("context")
  private var boxes: [ObjectIdentifier: ContextBox] = [:]
  private var greatestCount = 64

  func method(
    _ name: String, upTo count: Int = .max, _ body: @escaping (ManagedObjectContext, inout LuaCall) throws -> Void
  ) {
    plain.method(name, upTo: count) { box, call in
      Self.noteUse()
      try body(box.live(), &call)
    }
  }

  func property(
    _ name: String, get: @escaping (ManagedObjectContext, inout LuaCall) throws -> Void,
    set: ((ManagedObjectContext, inout LuaCall) throws -> Void)? = nil
  ) {
    plain.property(
      name,
      get: { box, call in
        Self.noteUse()
        try get(box.live(), &call)
      },
      set: set.map { set in
        { box, call in
          Self.noteUse()
          try set(box.live(), &call)
        }
      })
  }

  /// A function that a store calls for each row may use only its arguments. Access to a context makes its result
  /// invalid.
  private static func noteUse() { if HostFunction.isRunning { HostFunction.refuse() } }

  func handle(_ context: ManagedObjectContext) -> LuaObject { LuaObject(box(context), as: plain) }

  func box(_ context: ManagedObjectContext) -> ContextBox {
    if let known = boxes[ObjectIdentifier(context)], !known.isGone { return known }
    if boxes.count >= greatestCount { forgetThoseGone() }
    let box = ContextBox(context)
    boxes[ObjectIdentifier(context)] = box
    return box
  }

  /// Forgets the handle of a context. Returns false if a script, a request or a walk still holds the handle.
  func forget(unheld context: ManagedObjectContext) -> Bool {
    let key = ObjectIdentifier(context)
    guard var box = boxes.removeValue(forKey: key) else { return true }
    if isKnownUniquelyReferenced(&box) { return true }
    boxes[key] = box
    return false
  }

  /// Runs whenever the number of handles has doubled, because a script may open thousands of contexts.
  private func forgetThoseGone() {
    boxes = boxes.filter { !$0.value.isGone }
    greatestCount = max(64, 2 * boxes.count)
  }
}
