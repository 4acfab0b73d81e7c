import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// A module's function on another thread, with a context over the stores of a script's context.
///
/// Confined to the thread that made it. A worker may run several parts one after another (`moonbase.parallel`); its
/// context is reset between them.
final class ScriptWorker {
  /// The parts of a worker. A value that crosses threads; the rest of a worker is made on its thread.
  struct Setting: Sendable {
    /// Makes the worker's state.
    let maker: ScriptDomainMaker
    /// The stores, which the worker shares with the script's context.
    let coordinator: PersistentStoreCoordinator
    /// The extensions of the script's context; nil if it has none.
    let extensions: (any ExtensionProvider)?
    /// The module whose function is called.
    let module: String

    /// For the saved state of a context's stores. Reads the coordinator and the extensions of `context`, on the
    /// context's thread.
    init(_ module: String, in context: ManagedObjectContext, maker: ScriptDomainMaker) {
      (self.module, self.maker) = (module, maker)
      (coordinator, extensions) = (context.coordinator, context.extensionRegistry.provider)
    }
  }

  let domain: ScriptDomain
  let context: ManagedObjectContext
  private let function: LuaFunction
  private let module: String

  /// Makes a state on this thread and loads the module. `crew` may interrupt it.
  ///
  /// Throws `.malformedFile` if the module returns no function, `CancellationError` if the crew is stopping, and errors
  /// of loading.
  init(_ setting: Setting, _ crew: ScriptCrew) throws {
    domain = try setting.maker.make()
    module = setting.module
    crew.add(domain.state.interrupter)
    do {
      if crew.isStopping { throw CancellationError() }
      context = try Self.context(setting, in: domain)
      try domain.setContext(context)
      let state = domain.state
      let results = try state.run {
        try state.load("return require(...)", name: "=moonbase").call([.text(setting.module)])
      }
      guard case .function(let function)? = results.first else {
        throw ScriptError(
          .malformedFile,
          message:
            "module \(setting.module) returns \(results.first?.typePhrase ?? "nothing"), and is to return a function "
            + "whose first argument is a context")
      }
      self.function = function
    } catch {
      domain.close()
      throw error
    }
  }

  deinit { domain.close() }

  /// A context over the stores, with the extensions and the preparation of the domain.
  private static func context(_ setting: Setting, in domain: ScriptDomain) throws -> ManagedObjectContext {
    if let extensions = setting.extensions as? ScriptExtensions {
      return try domain.context(of: StoreHandle(coordinator: setting.coordinator, extensions: extensions))
    }
    let context = try ManagedObjectContext(setting.coordinator, extensions: setting.extensions)
    domain.prepareContext?(context)
    return context
  }

  /// Calls the function with the context and some values. Returns its first result. Unsaved changes are discarded and
  /// cause an error.
  ///
  /// The function receives the context followed by `arguments`. Pending saves are finished, files flushed, and the
  /// context is reset, also after an error.
  func call(_ arguments: [Value]) throws -> Value {
    do {
      return try domain.state.run {
        let values = try arguments.map { try domain.luaValue(from: $0) }
        let results = try function.call([.object(domain.types.context.handle(context))] + values)
        let result = try domain.valueToHandOver(results.first ?? .nil, as: "the result of module \(module)")
        try requireSaved()
        domain.contexts.waitForPendingSaves()
        try domain.state.flushFiles()
        try context.reset()
        return result
      }
    } catch {
      try? context.reset()
      throw error
    }
  }

  /// Throws the error of a failed save that the function ignored, or `.invalidRequest` for unsaved changes.
  private func requireSaved() throws {
    if let failure = domain.unseenFailure {
      domain.unseenFailure = nil
      throw failure.error.error
    }
    let count = domain.contexts.unsaved.ofRoots
    guard count > 0 else { return }
    throw GraphError(
      .invalidRequest,
      message:
        "module \(module) left \(count) changed object\(count == 1 ? "" : "s") unsaved, whose changes are given up: "
        + "call context:save() in it")
  }
}

extension ScriptDomain {
  /// A value that can be passed to another state. Throws for an object of a class and for an unsaved object.
  ///
  /// `subject` names the value in the message. Values of classes exist only in their own state; temporary IDs only in
  /// their context.
  func valueToHandOver(_ value: LuaValue, as subject: String) throws -> Value {
    let value = try graphValue(from: value)
    if let name = value.nameOfOpaqueClass {
      throw ScriptError(
        .invalidValue,
        message: "\(subject) has \(name.withArticle), which only its own state knows: hand over its fields")
    }
    var isTemporary = false
    _ = value.replacingIDs { id in
      if id.isTemporaryID { isTemporary = true }
      return nil
    }
    if isTemporary {
      throw ScriptError(.invalidValue, message: "\(subject) names an object that is not saved: save it first")
    }
    return value
  }
}

extension Value {
  /// The class of a nested value that only its own state can resolve.
  fileprivate var nameOfOpaqueClass: String? {
    switch self {
    case .object(let object): object.className
    case .list(let list): list.lazy.compactMap(\.nameOfOpaqueClass).first
    case .map(let map): map.values.lazy.compactMap(\.nameOfOpaqueClass).first
    default: nil
    }
  }
}
