import Moonbase
import MoonbasePlatform
import MoonbaseScripting

/// `moonbase run --watch`: extensions are reloaded while a script runs. When the script has ended, it runs again once
/// a file changes: its own, a module that it requires, the model, an extension or a module of one.
final class WatchedRun {
  private let isQuiet: Bool
  /// The command, for messages.
  private let command: String
  private var paths: [String] = []
  private var seen = WatchedFiles(modules: [])
  /// The extensions as the command line names them, and the folders of those that are files.
  private var sources: [ExtensionSource] = []
  private var folders: [ExtensionSource] = []
  /// The extensions that this run has loaded, and those of an earlier run.
  private var extensions: ScriptExtensions?
  private var former: ScriptExtensions?
  private var watch: ExtensionWatch?

  init(_ command: String = "run", isQuiet: Bool) { (self.command, self.isQuiet) = ("moonbase \(command)", isQuiet) }

  /// Calls `run` again after each change. It ends by SIGINT, with the status of a run that this ended, or where files
  /// cannot be watched.
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

  /// A run begins that these files decide, and these files and folders of extensions.
  func begin(_ files: [String], extensions named: [String]) {
    // The run before may have given up those who take the output.
    StandardStream.waitAgain()
    paths = files.map { URL(literalPath: $0).path }
    sources = named.map(ExtensionSource.path)
    folders = named.map { .path(URL(literalPath: $0).path.folderOfPath) }
    (former, extensions) = (extensions ?? former, nil)
    seen = filesNow
  }

  /// Reloads the extensions of a container from now on, and reports each reload.
  func take(_ container: PersistentContainer) {
    extensions = container.extensions
    let (isQuiet, command) = (isQuiet, command)
    watch = container.watchExtensions { outcome in
      if case .reloaded = outcome, isQuiet { return }
      Terminal.complain("\(command): \(outcome)")
    }
    seen.merge(filesNow)
  }

  /// The run has ended, which required these files, or would have if they were there.
  func end(_ modules: [String]) {
    watch = nil
    paths += modules
    seen.merge(filesNow)
    // A reload while the script ran is no reason to run the script again.
    if let extensions, case let now = extensionFiles, !extensions.isOutdated { seen.replace(by: now) }
  }

  private var filesNow: WatchedFiles {
    var files = WatchedFiles(modules: paths)
    files.merge(extensionFiles)
    return files
  }

  /// The files of the extensions. Of those that did not load it is not known which modules they require: these lie in
  /// their folders, or are what they required before.
  private var extensionFiles: WatchedFiles {
    var files = WatchedFiles(extensions == nil ? sources + folders : sources, modules: [])
    if let loaded = extensions ?? former { files.merge(loaded.filesNow) }
    return files
  }

  private func waitForChange(_ events: FolderEvents) {
    if !isQuiet { Terminal.complain("\(command): waiting for a change") }
    repeat {
      for folder in seen.folders { events.watch(folder) }
      if filesNow.differs(from: seen) { break }
    } while events.wait(milliseconds: 500)
    _ = events.settle(milliseconds: 20)
  }
}
