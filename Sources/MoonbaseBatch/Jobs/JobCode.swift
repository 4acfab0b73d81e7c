import MoonbasePlatform

/// The code of a job: its script, the modules that it requires, and extensions.
///
/// A resumed job compares the recorded digests with the current ones, so that chunks of one job are
/// not processed by different code unnoticed.
package struct JobCode {
  /// The digest of the script.
  let hash: String
  /// The folder of the script, without symbolic links.
  private let folder: String
  /// The paths of extensions, from the command line.
  private let extensions: [String]

  /// The code of a script in a folder, with the paths of extensions.
  package init(_ script: String, in folder: String, extensions: [String]) {
    hash = SHA2.shortText(Data(script.utf8))
    self.folder = FileIdentity.truePath(folder) ?? folder
    self.extensions = extensions
  }

  /// The current digests of extensions and of loaded modules.
  func files(modules: [String]) -> JobFiles {
    var digests: [String: String] = [:]
    for path in modules { digests[name(ofModule: path)] = Self.digest(ofFile: path) }
    for path in extensions { digests[Self.name(ofExtension: path)] = Self.digest(ofFile: path) }
    return JobFiles(digests)
  }

  /// The changes since a job recorded its files, in words for a person.
  ///
  /// For example, `util.lua has changed`. Empty for a job that recorded no files.
  func changes(since noted: JobFiles?, modules: [String]) -> [String] {
    guard let noted else { return [] }
    let now = files(modules: modules)
    guard let digests = noted.digests, let found = now.digests else {
      return noted == now ? [] : ["one of the files that it loads has changed"]
    }
    var changes: [String] = []
    for (name, digest) in digests.sorted(by: { $0.key < $1.key }) {
      let current = found[name] ?? path(ofModule: name).flatMap(Self.digest)
      if let current, current != digest { changes.append("\(name) has changed") }
      if current == nil { changes.append("\(name) is missing") }
    }
    // A newly required module is due to a change of the script or of another module.
    for name in found.keys.sorted() where digests[name] == nil && path(ofModule: name) == nil {
      changes.append("\(name) is new")
    }
    return changes
  }

  /// The name of a module is relative to the script's folder, so that the folder may be copied.
  private func name(ofModule path: String) -> String {
    let path = FileIdentity.truePath(path) ?? path
    return path.hasPrefix(folder + "/") ? String(path.dropFirst(folder.count + 1)) : path
  }

  /// The prefix that distinguishes extensions from modules in the entry.
  private static let option = "--extension "

  /// An extension is recorded by its file name only.
  private static func name(ofExtension path: String) -> String {
    option + (path.split(separator: "/").last.map(String.init) ?? path)
  }

  /// The path of a module; nil for an extension, which the caller names.
  private func path(ofModule name: String) -> String? {
    guard !name.hasPrefix(Self.option) else { return nil }
    return name.hasPrefix("/") ? name : "\(folder)/\(name)"
  }

  /// The digest of a file; nil if the file cannot be read.
  private static func digest(ofFile path: String) -> String? {
    // The ledger may name any path of the machine, so only regular files of at most 64 MB are read.
    guard FileIdentity.kind(path) == nil else { return nil }
    return (try? BoundedFile.read(path, limit: 64 << 20)).map { SHA2.shortText(Data($0)) }
  }
}
