import MoonbasePlatform

extension PersistentContainer {
  /// Reads the extensions anew. On an error, what runs stays as it is, in every context.
  ///
  /// Every context of the container takes over what was read at the next edge of its work: where `perform` begins,
  /// where a fetch or a save begins, and where a save or `processPendingChanges` ends; the view context also when the
  /// main actor is free. A save, a fetch, a walk, a transaction and a hook end with what they began with. A context
  /// that cannot take over what was read, because `on_reload` fails for example, keeps what it has, and tells
  /// observers (`extensions.observeReloads`), or else the log.
  ///
  /// Throws `ScriptError` as the container's initializer does.
  @discardableResult
  public func reloadExtensions() throws -> ExtensionReload { try extensions.reload() }

  /// Reads the extensions anew whenever one of their files or of the modules that they require changes, until the
  /// watch is cancelled or given up.
  ///
  /// ```swift
  /// let container = try PersistentContainer(model: model, store: .sqlite(url), extensions: [.directory(folder)])
  /// let watch = container.watchExtensions { outcome in print(outcome) }
  /// ```
  ///
  /// Contexts follow as they do after `reloadExtensions()`. `settling` and `every` are those of
  /// `ScriptExtensions.watch`. `handler` is called on the watch's thread with each outcome. Without one, and without
  /// other observers, failures are logged.
  public func watchExtensions(
    settling: Duration = .milliseconds(20), every interval: Duration = .milliseconds(500),
    _ handler: (@Sendable (ExtensionOutcome) -> Void)? = nil
  ) -> ExtensionWatch {
    extensions.watch(settling: settling, every: interval, handler)
  }

  /// Has the view context follow each reload, also where nothing is asked of it.
  func followReloads() {
    following.withLock { following in
      following = extensions.observeAnnouncements { [weak self] in self?.followInViewContext() }
    }
  }

  private func followInViewContext() {
    if Thread.isMainThread { return MainActor.assumeIsolated { madeViewContext?.followExtensions() } }
    let isWaiting = mainActorIsAsked.withLock { isAsked in
      defer { isAsked = true }
      return isAsked
    }
    guard !isWaiting else { return }
    Task { @MainActor [weak self] in
      self?.mainActorIsAsked.withLock { $0 = false }
      self?.madeViewContext?.followExtensions()
    }
  }
}
