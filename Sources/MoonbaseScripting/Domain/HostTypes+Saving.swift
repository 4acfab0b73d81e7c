import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// `context.name`, `context.author` and `context.merge_policy`: the labels of saves and their resolution of conflicts.
extension HostTypes {
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

  private static func answer(_ text: String?, to call: inout LuaCall) {
    if let text { call.return(text) } else { call.returnNil() }
  }

  private static func optionalText(of call: borrowing LuaCall) throws -> String? {
    call.isNil(0) ? nil : try call.text(0)
  }
}

/// A script's function that resolves save conflicts. The context retains it.
final class ScriptMergePolicy: @unchecked Sendable {  // only its context asks it, where its scripts run
  let function: LuaFunction
  private let types: HostTypes

  /// The extension that set it; nil for an extension without limits.
  private let running: RunningExtension?

  init(_ function: LuaFunction, types: HostTypes) {
    (self.function, self.types) = (function, types)
    running = types.domain.flatMap { .current(in: $0.state) }
  }

  /// The policy with this name. Throws `.invalidRequest` for unknown names.
  static func named(_ name: String) throws -> MergePolicy {
    if let known = MergePolicy.Name(rawValue: name) { return MergePolicy(known) }
    throw ScriptError(.invalidRequest, message: "merge_policy: \(unknown(name))")
  }

  private static func unknown(_ name: String) -> String {
    let names = MergePolicy.Name.allCases.map(\.rawValue)
    return "there is no merge policy \(name.asName)\(suggestion(for: name, among: names)), there are \(names.listed())"
  }

  /// The function's answer: the name of a policy, or values for some properties.
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

  private static func failure(of object: ManagedObject, _ what: String) -> GraphError {
    GraphError(
      .extensionFailure, message: "\(object.entity.name): merge_policy: \(what)", entity: object.entity.name,
      objectID: object.objectID)
  }

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
