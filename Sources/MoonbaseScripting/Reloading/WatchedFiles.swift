import MoonbasePlatform

/// The state of files and folders at a moment, for detecting later writes.
///
/// A value; two states are compared for equality or by `differs(from:)`. Footprints come from the file system (size,
/// times, inode) and need no reading of contents.
package struct WatchedFiles: Equatable, Sendable {
  /// The footprints by path: numbers that change when the file is written or replaced.
  private var footprints: [String: [Int]] = [:]
  /// The names of the Lua files in each folder, sorted.
  private var names: [String: [String]] = [:]

  /// Records the files of sources, and the modules that they require or would require if these existed. A folder is
  /// listed without its subfolders.
  package init(_ sources: [ExtensionSource] = [], modules: [String]) {
    for source in sources {
      guard let url = source.url else { continue }
      if source.isDirectory {
        let found = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        names[url.path] = found.filter { $0.hasSuffix(".lua") }.sorted()
        for name in names[url.path] ?? [] { note("\(url.path)/\(name)") }
      } else {
        note(url.path)
      }
    }
    for path in modules { note(path) }
  }

  /// Adds files found in the meantime. Known footprints are kept.
  package mutating func merge(_ other: WatchedFiles) {
    footprints.merge(other.footprints) { known, _ in known }
    names.merge(other.names) { known, _ in known }
  }

  /// Adds files, replacing known footprints.
  package mutating func replace(by other: WatchedFiles) {
    footprints.merge(other.footprints) { $1 }
    names.merge(other.names) { $1 }
  }

  /// Whether any of these files changed since an earlier state. Files missing from the earlier state are ignored.
  package func differs(from earlier: WatchedFiles) -> Bool {
    footprints.contains { path, now in earlier.footprints[path].map { $0 != now } ?? false }
      || names.contains { path, now in earlier.names[path].map { $0 != now } ?? false }
  }

  /// Records the footprint of a path, also of a missing file.
  private mutating func note(_ path: String) { footprints[path] = FileIdentity.footprint(path) }

  /// Whether a file was written so recently that another write might not change its footprint. The time stamps of file
  /// systems are coarse.
  package var isFresh: Bool { footprints.keys.contains(where: FileIdentity.isFresh) }

  /// The folders whose events cover all writes, replacements, creations and removals of the files. A missing folder is
  /// represented by its nearest existing ancestor. Links are followed: the folder of the link and the folder of the
  /// file are both listed.
  package var folders: Set<String> {
    var result: Set<String> = []
    for path in names.keys { result.formUnion([path, path.folderOfPath].compactMap(\.nearestFolder)) }
    for path in footprints.keys {
      let paths = [path, FileIdentity.truePath(path) ?? path]
      result.formUnion(paths.compactMap(\.folderOfPath.nearestFolder))
    }
    return result
  }
}

extension ExtensionSource {
  /// The file or folder of the source; nil for Swift code and texts.
  fileprivate var url: URL? {
    switch kind {
    case .file(let url), .directory(let url): url
    case .path(let path): URL(literalPath: path)
    case .text, .closures, .type: nil
    }
  }

  /// Whether the source is a folder. A path of unknown kind is looked up now.
  fileprivate var isDirectory: Bool {
    switch kind {
    case .directory: true
    case .path(let path): FileIdentity.kind(path) == "folder"
    case .file, .text, .closures, .type: false
    }
  }
}

extension String {
  /// The folder at this path, or its nearest existing ancestor.
  fileprivate var nearestFolder: String? {
    var path = self
    for _ in 0..<64 {
      if FileIdentity.kind(path) == "folder" { return path }
      let above = path.folderOfPath
      if above == path { return nil }
      path = above
    }
    return nil
  }
}
