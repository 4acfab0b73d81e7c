import Moonbase
import MoonbasePlatform
import MoonbaseScripting

/// `moonbase run --watch`, which reloads extensions while a script runs. After the script has ended, it runs again when
/// a file changes. The watched files are the script, the modules that it requires, the model, the extensions and their
/// modules.
///
/// The order of calls is: `begin`, `watch` after the extensions are loaded, and `end`, for each run.
/// `moonbase test --watch` uses the class too.
final class WatchedRun {
  /// Whether messages about reloads are suppressed.
  private let isQuiet: Bool
  /// The name of the command for messages.
  private let command: String
  /// The paths of the watched files that are not extensions.
  private var paths: [String] = []
  /// The state of the files when the run read them.
  private var seen = WatchedFiles(modules: [])
  /// The extensions that the command line names, and the folders of the extension files.
  private var sources: [ExtensionSource] = []
  private var folders: [ExtensionSource] = []
  /// The extensions that this run and the previous run have loaded.
  private var extensions: ScriptExtensions?
  /// The extensions of the previous run.
  private var former: ScriptExtensions?
  /// The observation that reloads extensions during a run.
  private var watch: ExtensionWatch?

  /// Creates the state of a repeated run. Nothing is watched yet.
  ///
  /// - Parameters:
  ///   - command: The name of the command.
  ///   - isQuiet: Whether messages are suppressed.
  init(_ command: String = "run", isQuiet: Bool) { (self.command, self.isQuiet) = ("moonbase \(command)", isQuiet) }

  /// Calls `run` again after each change. It returns after SIGINT, with the status of the interrupted run. It throws if
  /// files cannot be watched.
  ///
  /// - Parameter run: Runs once. It must call `begin` first.
  func repeating(_ run: (WatchedRun) throws -> Int32) throws -> Int32 {
    guard let events = FolderEvents() else {
      throw ScriptError(.cannotOpenFile, message: "files cannot be watched: the system has no more file descriptors")
    }
    while true {
      do {
        let status = try run(self)
        if status == ExitStatus.interrupted { return status }
      } catch {
        if ExitStatus.status(for: error) == ExitStatus.interrupted { throw error }
        Terminal.complain("\(command): \(error)")
      }
      waitForChange(events)
    }
  }

  /// Records the start of a run with the files and extensions that influence it.
  ///
  /// - Parameters:
  ///   - files: The paths of scripts and of the model.
  ///   - named: The paths of the extensions.
  func begin(_ files: [String], extensions named: [String]) {
    // The previous run may have stopped waiting for the readers of the output.
    StandardStream.waitAgain()
    paths = files.map { URL(literalPath: $0).path }
    sources = named.map(ExtensionSource.path)
    folders = named.map { .path(URL(literalPath: $0).path.folderOfPath) }
    (former, extensions) = (extensions ?? former, nil)
    seen = filesNow
  }

  /// Reloads the extensions of a container from now on, and reports each reload.
  ///
  /// - Parameter container: The container of the run.
  func watch(_ container: PersistentContainer) {
    extensions = container.extensions
    let (isQuiet, command) = (isQuiet, command)
    watch = container.watchExtensions { outcome in
      if case .reloaded = outcome, isQuiet { return }
      Terminal.complain("\(command): \(outcome)")
    }
    seen.merge(filesNow)
  }

  /// Records the end of a run, with the modules that it required or tried to require.
  ///
  /// - Parameter modules: The paths of the modules.
  func end(_ modules: [String]) {
    watch = nil
    paths += modules
    seen.merge(filesNow)
    // If extensions were reloaded while the script ran, the script is not run again for this reason.
    if let extensions, case let now = extensionFiles, !extensions.isOutdated { seen.replace(by: now) }
  }

  /// The current state of all watched files.
  private var filesNow: WatchedFiles {
    var files = WatchedFiles(modules: paths)
    files.merge(extensionFiles)
    return files
  }

  /// The files of the extensions. If an extension could not be loaded, its modules are unknown. In that case, its
  /// folder and its earlier modules are watched.
  private var extensionFiles: WatchedFiles {
    var files = WatchedFiles(extensions == nil ? sources + folders : sources, modules: [])
    if let loaded = extensions ?? former { files.merge(loaded.filesNow) }
    return files
  }

  /// Waits until a file differs from its recorded state, or until SIGINT arrives.
  private func waitForChange(_ events: FolderEvents) {
    if !isQuiet { Terminal.complain("\(command): waiting for a change") }
    repeat {
      for folder in seen.folders { events.watch(folder) }
      if filesNow.differs(from: seen) { break }
    } while events.wait(milliseconds: 500)
    _ = events.waitUntilQuiet(milliseconds: 20)
  }
}
