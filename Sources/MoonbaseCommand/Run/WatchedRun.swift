import Moonbase
import MoonbasePlatform
import MoonbaseScripting

/// `moonbase run --watch`: extensions are reloaded while a script runs. When the script has ended, it runs again once
/// a file changes: its own, a module that it requires, the model, an extension or a module of one.
final class WatchedRun {
  private let isQuiet: Bool
  private var paths: [String] = []
  private var seen = WatchedFiles(modules: [])
  private var extensions: ScriptExtensions?
  private var watch: ExtensionWatch?

  init(isQuiet: Bool) { self.isQuiet = isQuiet }

  /// Calls `run` again after each change. It ends by SIGINT, or where files cannot be watched.
  func repeating(_ run: (WatchedRun) throws -> Int32) throws -> Int32 {
    guard let events = FolderEvents() else {
      throw ScriptError(.cannotOpenFile, message: "files cannot be watched: the system has no more file descriptors")
    }
    while true {
      do {
        _ = try run(self)
      } catch {
        Terminal.complain("moonbase run: \(error)")
      }
      waitForChange(events)
    }
  }

  /// A run begins that these files decide.
  func begin(_ files: [String]) {
    paths = files.map { URL(literalPath: $0).path }
    extensions = nil
    seen = filesNow
  }

  /// Reloads the extensions of a container from now on, and tells of it.
  func take(_ container: PersistentContainer) {
    extensions = container.extensions
    let isQuiet = isQuiet
    watch = container.watchExtensions { outcome in
      if case .reloaded = outcome, isQuiet { return }
      Terminal.complain("moonbase run: \(outcome)")
    }
    seen.merge(filesNow)
  }

  /// The run has ended, which required these files.
  func end(_ modules: [String]) {
    watch = nil
    paths += modules
    seen.merge(filesNow)
    // What was reloaded while the script ran is no reason to run it again.
    if let extensions, case let now = extensions.filesNow, !extensions.isOutdated { seen.replace(by: now) }
  }

  private var filesNow: WatchedFiles {
    var files = WatchedFiles(modules: paths)
    if let extensions { files.merge(extensions.filesNow) }
    return files
  }

  private func waitForChange(_ events: FolderEvents) {
    if !isQuiet { Terminal.complain("moonbase run: waiting for a change") }
    repeat {
      for folder in seen.folders { events.watch(folder) }
      if filesNow != seen { break }
    } while events.wait(milliseconds: 500)
    _ = events.settle(milliseconds: 20)
  }
}
