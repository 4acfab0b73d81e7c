package import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import Synchronization

extension ScriptExtensions {
  /// Implements `ManagedObjectContext.reloadExtensions()`.
  ///
  /// Called on the context's thread. Throws `.contextBusy` within a hook or while a function of an extension runs,
  /// errors of the files, and errors of `on_reload`. After an error the context runs its former generation.
  package func adopt(in context: ManagedObjectContext) throws {
    try context.refuseToReload()
    try ScriptDomain.of(context)?.refuseToReload()
    guard let adoption = try beginAdoption(in: context) else { return }
    try adoption.notifyOrRollBack()
  }

  /// A generation that a context has adopted. Kept until the hooks of the new files have succeeded.
  private struct Adoption {
    /// The extensions with the new generation.
    fileprivate let extensions: ScriptExtensions
    fileprivate let context: ManagedObjectContext
    /// Restores the former generation.
    fileprivate let undo: Restoration
    /// The former files, whose tables the hooks receive, and the former model.
    fileprivate let former: (files: LoadedExtensions, model: ResolvedModel)

    /// Restores the former generation of the context.
    func rollBack() { undo.run(for: context, hasChanged: true) }

    /// Calls the hooks of the new files, followed by `body`. On an error the objects are restored. `body` adopts
    /// further contexts, so that an error there restores the objects of this context too.
    func tell(then body: () throws -> Void = {}) throws {
      try context.undoingHook {
        try extensions.callHooks(in: context, former: former.files)
      } then: {
        try body()
      }
    }

    /// Calls the hooks; on an error the former generation is restored.
    func notifyOrRollBack() throws {
      do { try tell() } catch {
        rollBack()
        throw error
      }
    }
  }

  /// Makes a context adopt the latest generation; nil if the context runs no scripts. On an error the context keeps its
  /// generation. Objects get their new added attributes here; hooks are called later.
  private func beginAdoption(in context: ManagedObjectContext) throws -> Adoption? {
    guard let scripts = ScriptDomain.of(context) else { return nil }
    let adoption = Adoption(
      extensions: self, context: context, undo: Restoration(of: context.extensionRegistry, scripts, self),
      former: (scripts.loaded(of: self), context.model))
    var hasChanged = false
    do {
      try fill(context.extensionRegistry, in: scripts)
      hasChanged = true
      context.extensionRegistry.didChange()
      try scripts.updateModel(context.model, after: adoption.former.model)
    } catch {
      adoption.undo.run(for: context, hasChanged: hasChanged)
      throw error
    }
    return adoption
  }

  /// Reloads the extensions of several contexts. Either all of the contexts adopt them or none does. The hooks are
  /// called after all contexts have adopted.
  ///
  /// Used by `moonbase.reload()`. On an error the extensions keep their former generation, and observers are not
  /// notified.
  static func reload(of contexts: [ManagedObjectContext]) throws {
    for context in contexts { try context.refuseToReload() }
    let pairs = contexts.compactMap { context in
      (context.extensionRegistry.provider as? ScriptExtensions).map { (context: context, extensions: $0) }
    }
    var former: [(extensions: ScriptExtensions, generation: Generation)] = []
    var reloads: [ExtensionReload] = []
    var adopted: [Adoption] = []
    do {
      for (_, extensions) in pairs where !former.contains(where: { $0.extensions === extensions }) {
        former.append((extensions, extensions.current.withLock { $0 }))
        reloads.append(try extensions.readAnew())
      }
      for (context, extensions) in pairs {
        if let adoption = try extensions.beginAdoption(in: context) { adopted.append(adoption) }
      }
      try tell(adopted[...])
    } catch {
      for adoption in adopted.reversed() { adoption.rollBack() }
      for (extensions, generation) in former { extensions.current.withLock { $0 = generation } }
      throw error
    }
    for ((extensions, _), reload) in zip(former, reloads) { extensions.announce(reload) }
  }

  /// Calls all hooks. On an error the objects of all contexts are restored.
  private static func tell(_ adoptions: ArraySlice<Adoption>) throws {
    try adoptions.first?.tell { try tell(adoptions.dropFirst()) }
  }

  /// Calls `on_reload(former)` of each file, where `former` is the table of the file's earlier version, or nil.
  private func callHooks(in context: ManagedObjectContext, former files: LoadedExtensions) throws {
    guard let scripts = ScriptDomain.of(context) else { return }
    for (name, _, hook, _) in scripts.loaded(of: self) {
      do {
        let old = files.last { $0.name == name }?.table
        try limiting(name, in: scripts) { _ = try hook?.call([old.map(LuaValue.table) ?? .nil]) }
      } catch let error as LuaError {
        throw Self.failure(of: error, onReloadOf: name)
      }
    }
  }

  /// Runs `body` within the limits of an extension, if it has any.
  private func limiting(_ name: String, in scripts: ScriptDomain, _ body: () throws -> Void) throws {
    guard let standing = current.withLock({ $0.standings.named(name) }),
      let running = RunningExtension(standing.source, profile: nil, standing: standing, in: scripts.state)
    else { return try body() }
    try running.limited("on_reload", body)
  }

  /// The error of a hook, with the hook's name. `os.exit` is unchanged.
  private static func failure(of error: LuaError, onReloadOf name: String) -> any Error {
    if error.kind.exitStatus != nil { return error }
    let code = error.codeOfEnd ?? (error.hostError as? GraphError)?.code ?? .extensionFailure
    return GraphError(code, message: "on_reload of extension \(name): \(error)", underlying: error)
  }
}

/// The state of a context before it adopted another generation.
///
/// A copy of references: registry contents, files, classes and model. Restoring runs no files and allocates nothing
/// that can fail.
private struct Restoration {
  /// The context's registry, which is restored in place.
  private let domain: ExtensionRegistry
  /// The domain of the context.
  private let scripts: ScriptDomain
  private let extensions: ScriptExtensions
  /// The contents of the registry before the adoption.
  private let former: ExtensionRegistry
  /// The files that ran before.
  private let files: LoadedExtensions
  /// The methods and modules provided before.
  private let provided: ScriptDomain.Provided?
  /// The classes registered before.
  private let classes: [(name: String, value: LuaTable)]
  /// The model of `moonbase.model` before.
  private let model: ResolvedModel?

  /// Records the state.
  init(of domain: ExtensionRegistry, _ scripts: ScriptDomain, _ extensions: ScriptExtensions) {
    (self.domain, self.scripts, self.extensions) = (domain, scripts, extensions)
    former = ExtensionRegistry()
    former.copyContents(of: domain)
    (files, provided) = (scripts.loaded(of: extensions), scripts.provided(by: extensions))
    (classes, model) = (scripts.currentClasses, scripts.model)
  }

  /// Restores the state. `hasChanged` says whether the context had begun to adopt.
  func run(for context: ManagedObjectContext, hasChanged: Bool) {
    let failed = context.model
    scripts.setLoaded(files, of: extensions)
    scripts.setProvided(provided, by: extensions)
    scripts.restore(classes: classes)
    scripts.model = model
    domain.copyContents(of: former)
    guard hasChanged else { return }
    domain.didChange()
    guard context.model !== failed else { return }
    // The restored types are known already, so no memory is needed.
    try? scripts.types.adopt(context.model, after: failed)
  }
}

extension ExtensionRegistry {
  /// Copies everything that a generation determines, without owner and provider.
  fileprivate func copyContents(of other: ExtensionRegistry) {
    (transformers, valueClasses) = (other.transformers, other.valueClasses)
    (attributeValueClasses, extensions) = (other.attributeValueClasses, other.extensions)
    pureFunctions = other.pureFunctions
    (knownModel, knownGeneration) = (other.knownModel, other.knownGeneration)
  }
}

extension ScriptExtensions: ReloadedExtensions {
  /// Whether the latest generation is neither adopted nor refused by the context. Called at each boundary of a
  /// context's work, so it reads a single atomic number.
  package func isNewer(than domain: ExtensionRegistry) -> Bool {
    let number = announced.load(ordering: .acquiring)
    return domain.knownGeneration != number && domain.refusedGeneration != number
  }

  /// Makes a context adopt the latest generation. Reports a failure as a refusal. Does nothing while code of an
  /// extension runs; the next boundary tries again.
  package func bringUpToDate(_ context: ManagedObjectContext) {
    guard ScriptDomain.of(context)?.isInExtension == false else { return }
    let number = announced.load(ordering: .acquiring)
    // Marked as refused during adoption, because observers called meanwhile may access objects, which must not begin
    // another adoption.
    context.extensionRegistry.refusedGeneration = number
    do {
      try adopt(in: context)
      context.extensionRegistry.refusedGeneration = nil
    } catch {
      report(.refused(ExtensionRefusal(generation: number, context: context.name, error: error)))
    }
  }
}

extension ScriptDomain {
  /// Whether code of an extension is running, also if a script called it. Adoption has to wait until it returns.
  /// Determined by the sources of the calls on Lua's stack.
  var isInExtension: Bool {
    guard state.isRunning else { return false }
    let names = namesOfExtensionSources
    return state.callsUnderWay().contains { names.contains($0.source) }
  }

  /// Throws if code of an extension is running. `.contextBusy` is the code.
  func refuseToReload() throws {
    guard isInExtension else { return }
    throw GraphError(
      .contextBusy,
      message: "the extensions were reloaded by a function of an extension, which must end with what it began with: "
        + "do it in the script that calls it")
  }
}
