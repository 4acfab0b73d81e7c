import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Reads extensions anew whenever one of their files changes, until it is cancelled or given up.
///
/// ```swift
/// let watch = container.watchExtensions { outcome in print(outcome) }
/// // ... contexts follow by themselves
/// watch.cancel()
/// ```
///
/// It watches the files and folders that the extensions were named by, and the modules that they require. A file that
/// does not load, for it is half written for example, leaves what runs in place, and the next change is tried again.
public final class ExtensionWatch: Sendable {
  private let events: FolderEvents?
  private let observation: ExtensionObservation?

  init(_ events: FolderEvents?, _ observation: ExtensionObservation?) {
    (self.events, self.observation) = (events, observation)
  }

  deinit { cancel() }

  /// Ends the watch: from now on no change is looked at. A reload that is under way comes to its end. A second time
  /// nothing happens.
  public func cancel() {
    events?.stop()
    observation?.cancel()
  }
}

extension ScriptExtensions {
  /// Reads the files anew whenever one of them changes, on a thread of its own, until the watch is cancelled or given
  /// up.
  ///
  /// A change is looked at when nothing has changed for the time `settling`: editors write a file in several steps.
  /// Where the system does not tell of changes, the files are looked at in the interval `every`. `handler` is called
  /// on the watch's thread with each outcome of a reload, and with each context that could not take over what was
  /// read.
  public func watch(
    settling: Duration = .milliseconds(20), every interval: Duration = .milliseconds(500),
    _ handler: (@Sendable (ExtensionOutcome) -> Void)? = nil
  ) -> ExtensionWatch {
    watch(settling: settling, every: interval, hearsOfEvents: true, handler)
  }

  /// Watches with or without events of the system. Some file systems have no events.
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

/// Looks at the files of extensions on a thread of its own.
private struct ExtensionWatcher {
  let events: FolderEvents?
  let settling: Int32
  let interval: Int32
  let hearsOfEvents: Bool

  /// Begins to watch: later writes are seen.
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
      while events.wait(milliseconds: interval), events.settle(milliseconds: settling) {
        guard let extensions else { return }
        if hearsOfEvents { look.watchFolders(events) }
        look.take(extensions)
      }
    }
    thread.name = "moonbase extensions"
    thread.stackSize = 16 << 20
    thread.start()
  }
}

/// The last known state of the files.
private struct ExtensionLook: Sendable {
  private var seen: WatchedFiles
  private var wasFresh = true
  /// The error of the last attempt; nil after a success.
  private var failure: String?

  init(_ extensions: ScriptExtensions) { seen = extensions.filesNow }

  /// Folders may have come since the last time.
  func watchFolders(_ events: FolderEvents) {
    for folder in seen.folders { events.watch(folder) }
  }

  /// Reads the extensions anew where something was written since the last time.
  mutating func take(_ extensions: ScriptExtensions) {
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
    // Modules that were required for the first time are watched too.
    seen.merge(extensions.filesNow)
  }
}

extension ScriptExtensions {
  /// The files as they are now.
  package var filesNow: WatchedFiles {
    let modules = [current.withLock { $0.modules }, triedModules.withLock { $0 }].compactMap(\.self)
    return WatchedFiles(sources, modules: modules.flatMap(\.paths))
  }

  /// Whether other texts would be read now than those that run.
  package var isOutdated: Bool {
    let (running, modules) = current.withLock { ($0.sources, $0.modules) }
    guard let now = try? read(), modules.outdatedUsers().isEmpty else { return true }
    let texts = running.filter { $0.name != ReadyMadeTransformers.sourceName }.map { [$0.name, $0.text] }
    return Set(now.map { [$0.name, $0.text] }) != Set(texts)
  }

  private func read() throws -> [ScriptSource] {
    try UnlinkedPath.$isRequired.withValue(isUnlinked) {
      try sources.flatMap { try $0.read(limit: limits.sourceSize) }
    }
  }

  /// Reloads, and tells who observes or the log; of a failure only where it is another one than before.
  fileprivate func reload(after failure: String?) throws {
    do {
      announce(try readAnew())
    } catch {
      if "\(error)" != failure { report(.failed(error)) }
      throw error
    }
  }
}

extension Duration {
  fileprivate var milliseconds: Int32 {
    let seconds = Int64(Int32.max / 1000)
    guard components.seconds < seconds else { return .max }
    return Int32(clamping: max(1, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000))
  }
}
