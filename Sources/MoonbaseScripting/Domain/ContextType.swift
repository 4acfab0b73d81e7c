import MoonbaseModel
import MoonbasePlatform
import MoonbaseGraph
import MoonbaseLua

/// A script's handle of a context. The reference is weak, because an app's context owns the Lua state that holds the
/// handle.
///
/// A handle survives its context: every access checks the reference and throws `.invalidRequest` once the context is
/// gone. `ContextType` makes one box per context, so that handles of one context are equal in Lua.
final class ContextBox {
  private let reference: ContextReference
  /// The script function last set as the context's merge policy, which the context retains.
  weak var mergePolicy: ScriptMergePolicy?

  /// Makes a handle of a context, which is not retained.
  init(_ context: ManagedObjectContext) { reference = context.reference }

  /// Whether a script closed the context. Selects the message of the error: a closed context is described differently
  /// from one that its owner released.
  var wasClosed = false

  /// Whether the context no longer exists.
  var isGone: Bool { reference.isGone }

  /// `context of /path/a.sqlite (2 inserted, 1 updated and 0 deleted objects)`. At most three stores are named; a store
  /// without a URL is named "a store in memory".
  var text: String {
    reference.context.map { "context of \(Self.stores(of: $0)) (\($0.changesToShow))" } ?? "context (gone)"
  }

  /// The paths of the context's first stores, for messages.
  private static func stores(of context: ManagedObjectContext) -> String {
    let names = context.coordinator.persistentStores.prefix(4).map { $0.url == nil ? "a store in memory" : $0.name }
    return names.isEmpty ? "no store" : (names.prefix(3) + (names.count > 3 ? ["…"] : [])).joined(separator: ", ")
  }

  /// The context. Throws `.invalidRequest` if it no longer exists.
  func live() throws -> ManagedObjectContext {
    if let context = reference.context { return context }
    throw goneError
  }

  /// Throws if the context no longer exists. Cheaper than `live()`, because no reference is taken.
  func check() throws { if isGone { throw goneError } }

  /// The `.invalidRequest` error of a handle without a context.
  private var goneError: ScriptError {
    ScriptError(
      .invalidRequest,
      message: wasClosed
        ? "the context was closed by its method close: take one that is open"
        : "the context is gone: its owner let go of it, or its stores were closed")
  }
}

/// The type of contexts in a Lua state. Each context has a single handle there.
///
/// Owned by `HostTypes`. `plain` is the Lua type itself; the methods and properties added here unwrap the box first, so
/// their bodies receive a context that still exists.
final class ContextType {
  /// The Lua type, under the name `context`.
  let plain = LuaHostType<ContextBox>("context")
  /// The handles, by the identity of their contexts. A new context may have the address of a former one, therefore a
  /// handle whose context is gone is replaced.
  private var boxes: [ObjectIdentifier: ContextBox] = [:]
  /// The number of handles at which those of former contexts are removed next.
  private var greatestCount = 64

  /// Adds a method `context:name(...)` with at most `count` arguments. The method throws `.invalidRequest` for a
  /// context that is gone.
  func method(
    _ name: String, upTo count: Int = .max, _ body: @escaping (ManagedObjectContext, inout LuaCall) throws -> Void
  ) {
    plain.method(name, upTo: count) { box, call in
      Self.noteUse()
      try body(box.live(), &call)
    }
  }

  /// Adds a property `context.name`, read-only without `set`.
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

  /// The context as a Lua object.
  func handle(_ context: ManagedObjectContext) -> LuaObject { LuaObject(box(context), as: plain) }

  /// The handle of a context, made at the first request.
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
