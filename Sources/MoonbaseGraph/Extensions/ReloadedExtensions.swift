import MoonbaseModel

/// Extensions that are read anew while contexts run them.
package protocol ReloadedExtensions: ExtensionProvider {
  /// Whether something else was read than the registry runs, and the registry has not refused it.
  func isNewer(than registry: ExtensionRegistry) -> Bool
  /// Lets the contexts of a registry run what was read last. On an error they keep what they have.
  func bringUpToDate(_ context: ManagedObjectContext)
  /// Lets the contexts of a registry run what was read last, or throws and leaves them as they are.
  func adopt(in context: ManagedObjectContext) throws
}

extension ManagedObjectContext {
  /// Replaces the extensions that this context runs, and the contexts that share them, by the generation that was read
  /// last. Then the `on_reload` functions of the new files run, each with what its extension was before, or nil. They
  /// are hooks: they change objects, and neither save nor roll back.
  ///
  /// On an error, of such a function too, the context keeps what it has, and its objects are as they were. Contexts of
  /// a container reload by themselves, each at the next edge of its work. A context without extensions that are read
  /// from files has nothing to reload.
  ///
  /// Throws `.contextBusy`, `.recursiveSave` and `.invalidRequest` in the middle of a hook, a save, a transaction, a
  /// call of observers and of a function of an extension.
  public func reloadExtensions() throws { try extensionRegistry.reloaded?.adopt(in: self) }

  /// Takes over extensions that were read anew, with the contexts that share them, unless one of these is in the
  /// middle of something.
  ///
  /// It is called at the edges of a context's work: where `perform` begins, where a fetch or a save begins, and where
  /// a save or an event ends. So a save, a fetch, a hook and a transaction run to their ends with what they began
  /// with.
  package func followExtensions() {
    guard !isClosed, let extensions = extensionRegistry.reloaded, extensions.isNewer(than: extensionRegistry) else {
      return
    }
    settle()
    if extensionRegistry.isAtRest { extensions.bringUpToDate(self) }
  }

  /// Whether no save, hook, transaction, walk or change of several things is on its way.
  fileprivate var isAtRest: Bool {
    phase == nil && hookDepth == 0 && accessorDepth == 0 && propagationDepth == 0 && !isInTransaction
      && pinnedView == nil && journal.isSettled && callsNoObservers && !derivations.isRecording
      && !openViews.contains { $0.view?.isOver == false }
  }

  /// Whether neither observers of properties nor those of an event or of results are called.
  private var callsNoObservers: Bool {
    observers.areQuiet && changeEvent?.isTelling != true && !listeners.isTelling
  }

  /// The number of the generation of extensions that the context runs (`ScriptExtensions.generation`); nil without
  /// extensions that can be reloaded.
  public var extensionGeneration: Int? { extensionRegistry.knownGeneration }

  /// Runs a hook and then `body`. On an error of one of them, all that they changed here is as it was.
  package func undoingHook(_ hook: () throws -> Void, then body: () throws -> Void) throws {
    try undoingOnFailure {
      try withinHook(hook)
      try body()
    }
  }

  /// Throws where the context, or one that shares its extensions, is in the middle of something, which must end with
  /// the extensions that it began with.
  package func refuseToReload() throws {
    for context in extensionRegistry.all where !context.isClosed { try context.refuseToReloadAlone() }
  }

  private func refuseToReloadAlone() throws {
    try refuseWithinHooks("the extensions were reloaded")
    guard !isInTransaction, journal.isSettled else {
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

extension ExtensionRegistry {
  /// Whether none of its contexts is in the middle of something.
  fileprivate var isAtRest: Bool { all.allSatisfy { $0.isClosed || $0.isAtRest } }
}
