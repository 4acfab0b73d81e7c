import MoonbasePlatform

/// Files and folders as they were at one moment, to tell whether something was written since.
package struct WatchedFiles: Equatable, Sendable {
  /// By path: numbers of which one changes when the file is written or replaced.
  private var footprints: [String: [Int]] = [:]
  private var names: [String: [String]] = [:]

  /// Looks at the files of sources, and at the modules that they require or would require if these were there.
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

  /// Takes in files that were found meanwhile, as they are now.
  package mutating func merge(_ other: WatchedFiles) {
    footprints.merge(other.footprints) { known, _ in known }
    names.merge(other.names) { known, _ in known }
  }

  /// Takes files as another look has them.
  package mutating func replace(by other: WatchedFiles) {
    footprints.merge(other.footprints) { $1 }
    names.merge(other.names) { $1 }
  }

  /// Whether one of these files is another now than it was at an earlier look. Files that the earlier look did not see
  /// do not count.
  package func differs(from earlier: WatchedFiles) -> Bool {
    footprints.contains { path, now in earlier.footprints[path].map { $0 != now } ?? false }
      || names.contains { path, now in earlier.names[path].map { $0 != now } ?? false }
  }

  private mutating func note(_ path: String) { footprints[path] = FileIdentity.footprint(path) }

  /// Whether a file was written so short a time ago that another write need not show in its footprint.
  package var isFresh: Bool { footprints.keys.contains(where: FileIdentity.isFresh) }

  /// The folders in which something happens where one of the files is written, replaced, made or removed. A folder
  /// that is not there is represented by the nearest one above it.
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
  /// The file or the folder that it is read from; nil for Swift code and texts.
  fileprivate var url: URL? {
    switch kind {
    case .file(let url), .directory(let url): url
    case .path(let path): URL(literalPath: path)
    case .text, .closures, .type: nil
    }
  }

  fileprivate var isDirectory: Bool {
    switch kind {
    case .directory: true
    case .path(let path): FileIdentity.kind(path) == "folder"
    case .file, .text, .closures, .type: false
    }
  }
}

extension String {
  /// The folder at this path, or the nearest one above it that is there.
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
