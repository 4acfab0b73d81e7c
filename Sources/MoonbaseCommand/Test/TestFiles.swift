import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The test files that a command names, or that a folder contains.
enum TestFiles {
  /// The end of the name of a test file.
  static let ending = "_test.lua"

  /// Without names, all test files in the folder of the project, or in the current folder.
  ///
  /// - Parameter names: The files and folders of the command line.
  /// - Throws: A `UsageError` if there is no test file.
  static func paths(_ names: [String]) throws -> [String] {
    guard names.isEmpty else { return try names.flatMap(paths) }
    let folder = try Project.current()?.folder ?? "."
    let found = files(in: folder)
    guard !found.isEmpty else {
      throw UsageError(
        "there is no file of tests (*\(ending)) below \(folder == "." ? "this folder" : folder): name one")
    }
    return found
  }

  /// The test files for one name. A file is used whatever its name is.
  private static func paths(_ name: String) throws -> [String] {
    guard FileIdentity.kind(name) == "folder" else { return [name] }
    let found = files(in: name)
    guard !found.isEmpty else { throw UsageError("\(name) has no file of tests: their names end with \(ending)") }
    return found
  }

  /// All test files in a folder except for hidden files.
  ///
  /// Folders are searched recursively, in alphabetical order.
  private static func files(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder).sorted()) ?? []
    return names.filter { !$0.hasPrefix(".") }.flatMap { name -> [String] in
      let path = folder == "." ? name : folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
      var status = stat()
      // Links are not followed, because they may form a cycle.
      guard lstat(path, &status) == 0 else { return [] }
      if status.st_mode & S_IFMT == S_IFDIR { return files(in: path) }
      return name.hasSuffix(ending) ? [path] : []
    }
  }
}
