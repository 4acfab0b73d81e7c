import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Reloads extensions whenever one of their files changes, until cancelled or released.
///
/// ```swift
/// let watch = container.watchExtensions { outcome in print(outcome) }
/// // ... contexts follow by themselves
/// watch.cancel()
/// ```
///
/// The watch covers the files and folders given as extensions, and the modules that they require. A file that does not
/// load, for example because it is only partly written, leaves the running generation in place, and the next change
/// triggers another attempt.
///
/// The watch owns a thread, which ends after `cancel()`; the extensions themselves are held weakly, so that a watch
/// keeps no container open.
public final class ExtensionWatch: Sendable {
  /// Nil if the system has no more file descriptors.
  private let events: FolderEvents?
  /// Receives the outcomes; nil without a handler.
  private let observation: ExtensionObservation?

  /// A watch that has begun.
  init(_ events: FolderEvents?, _ observation: ExtensionObservation?) {
    (self.events, self.observation) = (events, observation)
  }

  deinit { cancel() }

  /// Ends the watch. A reload in progress is completed. Further calls have no effect.
  public func cancel() {
    events?.stop()
    observation?.cancel()
  }
}

extension ScriptExtensions {
  /// Reloads the files whenever one of them changes, on the watch's own thread, until the watch is cancelled or
  /// released.
  ///
  /// A change is processed after a pause of `settling` without changes, because editors write a file in several steps.
  /// On systems without change events, the files are polled at the interval `every`. `handler` is called on the watch's
  /// thread with each outcome of a reload, and with each context that could not adopt a reload.
  ///
  /// Keep the result: releasing it ends the watch. Contexts adopt a reload at their next boundary, as after `reload()`.
  public func watch(
    settling: Duration = .milliseconds(20), every interval: Duration = .milliseconds(500),
    _ handler: (@Sendable (ExtensionOutcome) -> Void)? = nil
  ) -> ExtensionWatch {
    watch(settling: settling, every: interval, hearsOfEvents: true, handler)
  }

  /// Watches with or without events of the system, because some file systems have no events.
  package func watch(
    settling: Duration, every interval: Duration, hearsOfEvents: Bool,
    _ handler: (@Sendable (ExtensionOutcome) -> Void)?
  ) -> ExtensionWatch {
    let events = FolderEvents()
    let watcher = ExtensionWatcher(
      events: events, settling: settling.milliseconds, interval: interval.milliseconds, hearsOfEvents: hearsOfEvents)
    let observation = handler.map(observeReloads)
    watcher.start(self)
    return ExtensionWatch(events, observation)
  }
}

/// Watches the files of extensions on its own thread. A value that is used up by `start`.
private struct ExtensionWatcher {
  let events: FolderEvents?
  /// In milliseconds.
  let settling: Int32
  /// In milliseconds, the longest time between two looks.
  let interval: Int32
  /// Whether folders are watched by events of the system, besides the interval.
  let hearsOfEvents: Bool

  /// Begins to watch. Writes after this call are noticed. A failure to watch is reported as an outcome, not thrown. The
  /// thread holds the extensions weakly and ends with them.
  func start(_ extensions: ScriptExtensions) {
    guard let events else {
      let message = "the extensions cannot be watched: the system has no more file descriptors"
      return extensions.report(.failed(ScriptError(.cannotOpenFile, message: message)))
    }
    let look = ExtensionLook(extensions)
    if hearsOfEvents { look.watchFolders(events) }
    let (settling, interval, hearsOfEvents) = (settling, interval, hearsOfEvents)
    let thread = Thread { [weak extensions, look] in
      var look = look
      while events.wait(milliseconds: interval), events.waitUntilQuiet(milliseconds: settling) {
        guard let extensions else { return }
        if hearsOfEvents { look.watchFolders(events) }
        look.reloadIfChanged(extensions)
      }
    }
    thread.name = "moonbase extensions"
    thread.stackSize = 16 << 20
    thread.start()
  }
}

/// The last known state of the files.
///
/// Compares the footprints first, then the texts, so that an unchanged file that is written again causes no reload.
private struct ExtensionLook: Sendable {
  /// The footprints at the last look.
  private var seen: WatchedFiles
  /// Whether a file was written just before the last look, so that a later write may have the same footprint.
  private var wasFresh = true
  /// The error of the last attempt; nil after a success.
  private var failure: String?

  /// Records the state at the beginning.
  init(_ extensions: ScriptExtensions) { seen = extensions.filesNow }

  /// Watches new folders too.
  func watchFolders(_ events: FolderEvents) {
    for folder in seen.folders { events.watch(folder) }
  }

  /// Reloads the extensions if something was written since the last call. A failed reload is tried again at each later
  /// write.
  mutating func reloadIfChanged(_ extensions: ScriptExtensions) {
    let now = extensions.filesNow
    guard now != seen || wasFresh || now.isFresh else { return }
    (seen, wasFresh) = (now, now.isFresh)
    guard failure != nil || extensions.isOutdated else { return }
    do {
      try extensions.reload(after: failure)
      failure = nil
    } catch {
      failure = "\(error)"
    }
    // Modules required for the first time are watched too.
    seen.merge(extensions.filesNow)
  }
}

extension ScriptExtensions {
  /// The current state of the files. Includes modules of a failed attempt, whose correction should be noticed.
  package var filesNow: WatchedFiles {
    let modules = [current.withLock { $0.modules }, triedModules.withLock { $0 }].compactMap(\.self)
    return WatchedFiles(sources, modules: modules.flatMap(\.paths))
  }

  /// Whether the texts on disk differ from the running ones. A file that cannot be read counts as different.
  package var isOutdated: Bool {
    let (running, modules) = current.withLock { ($0.sources, $0.modules) }
    guard let now = try? read(), modules.outdatedUsers().isEmpty else { return true }
    let texts = running.filter { $0.name != ReadyMadeTransformers.sourceName }.map { [$0.name, $0.text] }
    return Set(now.map { [$0.name, $0.text] }) != Set(texts)
  }

  /// Reads the texts with the permissions under which the extensions were given.
  private func read() throws -> [ScriptSource] {
    try UnlinkedPath.$isRequired.withValue(isUnlinked) {
      try sources.flatMap { try $0.read(limit: limits.sourceSize) }
    }
  }

  /// Reloads and reports the outcome to observers or the log. A failure is reported only if it differs from the
  /// previous one.
  fileprivate func reload(after failure: String?) throws {
    do {
      announce(try readAnew())
    } catch {
      if "\(error)" != failure { report(.failed(error)) }
      throw error
    }
  }
}

/// At least 1, at most the greatest value.
extension Duration {
  fileprivate var milliseconds: Int32 {
    let seconds = Int64(Int32.max / 1000)
    guard components.seconds < seconds else { return .max }
    return Int32(clamping: max(1, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000))
  }
}
