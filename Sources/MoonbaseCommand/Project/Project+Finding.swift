import MoonbasePlatform

extension Project {
  /// The maximum size of a project file.
  private static let greatestSize = 256 << 10

  /// The option for ignoring the project.
  static let leavingOut = "--no-project"

  /// The result of the search. The search runs once, when a command first needs the project.
  private static let found: Result<Project?, UsageError> = {
    do throws(UsageError) {
      return .success(try isLeftOut ? nil : find())
    } catch {
      return .failure(error)
    }
  }()

  /// Whether the command line contains `--no-project` as an option of the command.
  private static let isLeftOut: Bool = {
    let words = Array(CommandLine.arguments.dropFirst())
    return words.first == "run"
      ? RunOptions.leavesProjectOut(words.dropFirst()) : RepeatedOptions.isGiven(leavingOut, in: words)
  }()

  /// The project of the current folder. Nil if there is none, or if it is ignored.
  ///
  /// - Throws: A `UsageError` with line and column if the project file is not valid.
  static func current() throws(UsageError) -> Project? { try found.get() }

  /// Whether a project names a store. This is also true for a project file that cannot be read. Its error is thrown
  /// when the store is used.
  ///
  /// Commands use it to decide whether a missing store is an error.
  static var namesStore: Bool {
    switch found {
    case .success(let project): project?.stores.isEmpty == false
    case .failure: true
    }
  }

  /// Searches in the current folder and its parent folders, up to the home folder or the root.
  ///
  /// A project file in the home folder itself is used, but folders above it are not searched.
  private static func find() throws(UsageError) -> Project? {
    let start = FileManager.default.currentDirectoryPath
    let home = Environment.value("HOME").flatMap(real)
    var folder = start
    while true {
      let file = folder == "/" ? "/\(fileName)" : "\(folder)/\(fileName)"
      if access(file, F_OK) == 0 { return try read(file, in: folder == start ? "." : folder) }
      guard folder != "/", folder != home, folder.hasPrefix("/") else { return nil }
      folder = folder.folderOfPath
    }
  }

  /// The path without links, or nil if it does not exist.
  private static func real(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Reads and interprets a project file.
  ///
  /// - Parameters:
  ///   - file: The path of the file.
  ///   - folder: Its folder, as commands name it.
  /// - Throws: A `UsageError` with line and column.
  private static func read(_ file: String, in folder: String) throws(UsageError) -> Project {
    let name = folder == "." ? fileName : file
    let bytes: [UInt8]
    do throws(BoundedFile.Failure) {
      bytes = try BoundedFile.read(file, limit: greatestSize)
    } catch {
      throw UsageError("\(name) cannot be read: \(error.reason); \(leavingOut) leaves it out")
    }
    do throws(LuaDataReader.Failure) {
      return try ProjectReader(file: file, name: name, folder: folder).project(LuaDataReader.read(bytes))
    } catch {
      throw UsageError("\(name):\(error.place.line):\(error.place.column): \(error.message)")
    }
  }
}
