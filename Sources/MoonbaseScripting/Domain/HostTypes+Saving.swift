import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// `context.name`, `context.author` and `context.merge_policy`: the labels of saves and their resolution of conflicts.
extension HostTypes {
  /// Describes `context.name`, `context.author` and `context.merge_policy`. A policy is a name such as `"error"` or a
  /// function, which receives a conflict table (`resolve(_:)`).
  func describeSettingsOfContext() {
    context.property(
      "name", get: { context, call in Self.answer(context.name, to: &call) },
      set: { context, call in context.name = try Self.optionalText(of: call) })
    context.property(
      "author", get: { context, call in Self.answer(context.transactionAuthor, to: &call) },
      set: { context, call in context.transactionAuthor = try Self.optionalText(of: call) })
    context.property(
      "merge_policy",
      get: { [unowned self] context, call in
        if let name = context.mergePolicy.name { return call.return(name.rawValue) }
        // A merge policy of an app is not a Lua function and is not returned.
        guard let policy = self.context.box(context).mergePolicy else { return call.returnNil() }
        try call.return(.function(policy.function))
      },
      set: { [unowned self] context, call in
        switch try call.value(0) {
        case .function(let function):
          let policy = ScriptMergePolicy(function, types: self)
          self.context.box(context).mergePolicy = policy
          context.mergePolicy = .custom { try policy.resolve($0) }
        case .string: context.mergePolicy = try ScriptMergePolicy.named(try call.name(0))
        default: throw call.typeError(0, expected: "name of a merge policy or function")
        }
      })
  }

  /// Returns a text or nil to Lua.
  private static func answer(_ text: String?, to call: inout LuaCall) {
    if let text { call.return(text) } else { call.returnNil() }
  }

  /// The text that a script assigns; nil for nil.
  private static func optionalText(of call: borrowing LuaCall) throws -> String? {
    call.isNil(0) ? nil : try call.text(0)
  }
}

/// A script's function that resolves save conflicts. The context retains it.
///
/// The graph calls the function during a save, on the context's thread, within the limits of the extension that
/// assigned the policy. The context's handle keeps a weak reference, so that reading `merge_policy` returns the same
/// function.
final class ScriptMergePolicy: @unchecked Sendable {  // only its context asks it, where its scripts run
  /// The Lua function, with the conflict table as its only argument.
  let function: LuaFunction
  /// Retained: the domain is reached through the types at each call.
  private let types: HostTypes

  /// The extension that set it; nil for an extension without limits.
  private let running: RunningExtension?

  /// Makes a policy that runs with the limits of the extension that is running now, if any.
  init(_ function: LuaFunction, types: HostTypes) {
    (self.function, self.types) = (function, types)
    running = types.domain.flatMap { .current(in: $0.state) }
  }

  /// The policy with this name. Throws `.invalidRequest` for unknown names.
  static func named(_ name: String) throws -> MergePolicy {
    if let known = MergePolicy.Name(rawValue: name) { return MergePolicy(known) }
    throw ScriptError(.invalidRequest, message: "merge_policy: \(unknown(name))")
  }

  /// The message about an unknown name, with a suggestion and all known names.
  private static func unknown(_ name: String) -> String {
    let names = MergePolicy.Name.allCases.map(\.rawValue)
    return "there is no merge policy \(name.asName)\(suggestion(for: name, among: names)), there are \(names.listed())"
  }

  /// The function's answer: the name of a policy, or values for some properties.
  ///
  /// A name applies that policy to the conflict; a table `{ property = value }` gives values for the object. Any other
  /// answer throws `.extensionFailure`, as does an error of the function.
  func resolve(_ conflict: MergeConflict) throws -> MergePolicy.Resolution {
    let object = conflict.object
    return try object.running("mergePolicy") {
      let domain = try types.openDomain()
      let argument = LuaValue.table(try table(of: conflict, in: domain))
      switch try running.within("merge_policy", { try function.first(argument) }) {
      case .string(let text):
        guard let name = text.text.flatMap(MergePolicy.Name.init) else {
          throw Self.failure(of: object, Self.unknown(text.text ?? "of bytes"))
        }
        return try MergePolicy(name).resolve(conflict)
      case .table(let values):
        guard let context = object.managedObjectContext else { return .error }
        return .values(try domain.values(values, of: object.entity, in: context))
      case let other:
        throw Self.failure(
          of: object, "its function gave \(other.typePhrase), and is to give the name of a policy or a table of values")
      }
    }
  }

  /// An `.extensionFailure` that names the object.
  private static func failure(of object: ManagedObject, _ what: String) -> GraphError {
    GraphError(
      .extensionFailure, message: "\(object.entity.name): merge_policy: \(what)", entity: object.entity.name,
      objectID: object.objectID)
  }

  /// The conflict as scripts see it: `{ object, kind, properties, collisions }`.
  ///
  ///
  /// Each collision is `{ property, original, object, stored }`: the value when the object was read, the object's value
  /// now, and the value in the store.
  private func table(of conflict: MergeConflict, in domain: ScriptDomain) throws -> LuaTable {
    let table = try domain.state.table(fields: 5)
    try table.set("object", to: domain.handle(conflict.object))
    try table.set("kind", to: .text(conflict.conflict.kind.name))
    let state = domain.state
    switch conflict.conflict.kind {
    case .changed, .deleted: break
    case .destinationIsGone(let name, _), .destinationWasAdded(let name, _), .destinationIsRemoved(let name, _),
      .destinationIsLinkedElsewhere(let name, _):
      try table.set("properties", to: .table(state.list([.text(name)])))
    case .sameValues(let names, _): try table.set("properties", to: .table(state.list(names.map(LuaValue.text))))
    }
    let collisions = try conflict.collisions.map { difference in
      let entry = try state.table(fields: 4)
      try entry.set("property", to: .text(difference.property))
      try entry.set("original", to: domain.luaValue(from: difference.original))
      try entry.set("object", to: domain.luaValue(from: difference.object))
      try entry.set("stored", to: domain.luaValue(from: difference.stored))
      return LuaValue.table(entry)
    }
    try table.set("collisions", to: .table(state.list(collisions)))
    return table
  }
}

extension SaveConflict.Kind {
  /// The kind of conflict, as scripts name it.
  fileprivate var name: String {
    switch self {
    case .changed: "changed"
    case .deleted: "deleted"
    case .destinationIsGone: "destination_is_gone"
    case .destinationWasAdded: "destination_came"
    case .destinationIsRemoved: "destination_leaves"
    case .destinationIsLinkedElsewhere: "destination_leads_elsewhere"
    case .sameValues: "same_values"
    }
  }
}
