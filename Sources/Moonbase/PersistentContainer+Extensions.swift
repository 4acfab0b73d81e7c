import MoonbasePlatform

extension PersistentContainer {
  /// Reloads the extensions. After an error, every context keeps its extensions.
  ///
  /// Every context of the container adopts the new generation between two units of work: where `perform`, a fetch or a
  /// save begins, where a save or `processPendingChanges` ends, and in the view context also when the main actor is
  /// free. A save, fetch, walk, transaction or hook ends with the extensions that it began with. A context that cannot
  /// adopt the generation, for example because `on_reload` fails, keeps its extensions, and notifies observers
  /// (`extensions.observeReloads`), or else the log.
  ///
  /// Throws `ScriptError` like the container's initializer.
  @discardableResult
  public func reloadExtensions() throws -> ExtensionReload { try extensions.reload() }

  /// Reloads the extensions whenever one of their files, or a module that they require, changes, until the watch is
  /// cancelled or released.
  ///
  /// ```swift
  /// let container = try PersistentContainer(model: model, store: .sqlite(url), extensions: [.directory(folder)])
  /// let watch = container.watchExtensions { outcome in print(outcome) }
  /// ```
  ///
  /// Contexts adopt the changes as after `reloadExtensions()`. `settling` and `every` are explained at
  /// `ScriptExtensions.watch`. `handler` is called on the watch's thread with each outcome. Without a handler and other
  /// observers, failures are logged.
  public func watchExtensions(
    settling: Duration = .milliseconds(20), every interval: Duration = .milliseconds(500),
    _ handler: (@Sendable (ExtensionOutcome) -> Void)? = nil
  ) -> ExtensionWatch {
    extensions.watch(settling: settling, every: interval, handler)
  }

  /// Lets the view context adopt each reload, even without a request to the context.
  func followReloads() {
    following.withLock { following in
      following = extensions.observeAnnouncements { [weak self] in self?.followInViewContext() }
    }
  }

  private func followInViewContext() {
    if Thread.isMainThread { return MainActor.assumeIsolated { madeViewContext?.followExtensions() } }
    let isWaiting = hasPendingReload.withLock { isAsked in
      defer { isAsked = true }
      return isAsked
    }
    guard !isWaiting else { return }
    Task { @MainActor [weak self] in
      self?.hasPendingReload.withLock { $0 = false }
      self?.madeViewContext?.followExtensions()
    }
  }
}
