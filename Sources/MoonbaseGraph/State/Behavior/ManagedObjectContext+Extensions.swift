package import MoonbaseModel

extension ManagedObjectContext {
  /// Replaces the extensions of this context, and of all contexts that share them, by the newest generation.
  ///
  /// Then the `on_reload` functions of the new files run, each with the former state of its extension, or nil. They are
  /// hooks: they may change objects, and neither save nor roll back.
  ///
  /// After an error, also of such a function, the context keeps its extensions, and its objects are unchanged. Contexts
  /// of a container reload by themselves between two units of work. Without extensions from files the call does
  /// nothing.
  ///
  /// Throws `.contextBusy`, `.recursiveSave` or `.invalidRequest` within a hook, a save, a transaction, a call of
  /// observers or a function of an extension.
  public func reloadExtensions() throws {
    try checkOpen()
    try extensionRegistry.reloaded?.adopt(in: self)
  }

  /// Adopts a newer generation of extensions, unless a context that shares them is in the middle of some work.
  ///
  /// Called between units of work: where `perform`, a fetch or a save begins, and where a save or an event ends. So a
  /// save, fetch, hook or transaction ends with the extensions that it began with.
  package func followExtensions() {
    guard !lifetime.isClosed, let extensions = extensionRegistry.reloaded, extensions.isNewer(than: extensionRegistry)
    else {
      return
    }
    waitForPendingSave()
    if extensionRegistry.isAtRest { extensions.bringUpToDate(self) }
  }

  /// Whether no save, hook, transaction, walk or compound change is in progress.
  var isAtRest: Bool {
    running.phase == nil && running.hookDepth == 0 && running.accessorDepth == 0 && running.propagationDepth == 0
      && !running.isInTransaction
      && readAhead.pinnedView == nil && journal.isSettled && callsNoObservers && !derivations.isRecording
      && !readAhead.openViews.contains { $0.view?.isOver == false }
  }

  /// Whether no observer of properties, events or results is being called.
  private var callsNoObservers: Bool {
    observations.observers.areQuiet && observations.changeEvent?.isTelling != true && !observations.listeners.isTelling
  }

  /// The generation of extensions that the context runs (`ScriptExtensions.generation`); nil without reloadable
  /// extensions.
  public var extensionGeneration: Int? { extensionRegistry.knownGeneration }

  /// Runs a hook and then `body`. If one of them throws, all their changes in this context are undone.
  package func undoingHook(_ hook: () throws -> Void, then body: () throws -> Void) throws {
    try undoingOnFailure {
      try withinHook(hook)
      try body()
    }
  }

  /// Throws if this context, or a context that shares its extensions, is in the middle of some work.
  package func refuseToReload() throws {
    for context in extensionRegistry.all where !context.lifetime.isClosed { try context.refuseToReloadAlone() }
  }

  private func refuseToReloadAlone() throws {
    try refuseWithinHooks("the extensions were reloaded")
    guard !running.isInTransaction, journal.isSettled else {
      throw GraphError(
        .invalidRequest,
        message: "the extensions were reloaded within a transaction: reload them before or after it")
    }
    guard callsNoObservers else {
      throw GraphError(
        .contextBusy,
        message: "the extensions were reloaded while observers are called: do it when what they observe is done")
    }
  }
}

/// Facts about attributes that exports and imports need beside the model.
extension ManagedObjectContext {
  /// The class of an attribute's values, as the model, a transformer or an extension names it.
  package func valueClass(of property: ResolvedProperty, in entity: ResolvedEntity) throws -> ValueClass? {
    try behavior(of: entity).valueClasses[property.slot]
  }

  /// The slots of derived attributes without a setter, to which nothing can be assigned.
  package func computedSlots(of entity: ResolvedEntity) throws -> Set<Slot> {
    let behavior = try behavior(of: entity)
    return Set(
      entity.allProperties.map(\.slot).filter { slot in
        switch behavior.kind(slot) {
        case .derived(let derived), .stored(let derived), .storedTransformable(let derived, _): derived.set == nil
        default: false
        }
      })
  }
}
