import MoonbaseModel
import MoonbaseGraph
package import MoonbasePlatform

/// The folder of a store's external values. It is opened step by step without following links, because the destination
/// of a link may contain files that do not belong to the store.
///
/// For a store `/data/people.sqlite` the folder is `/data/.people_SUPPORT/_EXTERNAL_DATA`. A value without open
/// descriptors; each access walks from the store's folder down.
package struct SupportFolder: Sendable {
  /// The greatest size of a value in bytes.
  private static let greatest = Int(Int32.max)

  /// The name of the store's file.
  private let storeName: String
  /// The folder of the store.
  private let storeFolder: String
  /// The folder names below the store's folder.
  private let parts: [String]
  /// Lets tests make single steps fail.
  private let observer: StatementObserver?

  /// Nothing is created before the first write.
  package init(store path: String, observer: StatementObserver? = nil) {
    self.observer = observer
    storeName = URL(fileURLWithPath: path).lastPathComponent
    storeFolder = path.folderOfPath
    parts = [Self.topName(ofStore: path), "_EXTERNAL_DATA"]
  }

  /// The name of the folder beside a store. `.people_SUPPORT` for `people.sqlite`.
  static func topName(ofStore path: String) -> String {
    ".\(URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent)_SUPPORT"
  }

  /// Whether another store, or a copy of this one, may use the folder: names of stores that differ only in their
  /// extensions share it.
  package var isShared: Bool {
    let own = ([""] + StoreFile.companions).map { storeName + $0 }
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: storeFolder) else { return true }
    return names.contains { !own.contains($0) && Self.topName(ofStore: "\(storeFolder)/\($0)") == parts[0] }
  }

  /// The path of a file in the folder.
  package func path(_ name: String) -> String { ([storeFolder] + parts + [name]).joined(separator: "/") }

  /// The folder beside the store that contains everything that belongs to the store.
  var topPath: String { "\(storeFolder)/\(parts[0])" }

  // MARK: Files

  /// The contents of a file. Throws `.storeFailure` with advice for missing files, links, special files and second
  /// names.
  func read(_ name: String) throws -> Data {
    try reporting(
      "cannot be read", name: name, advice: ": refresh the object if it is old, or restore the file from a backup"
    ) {
      try entered(creating: false) { folder in
        // Opening a pipe would otherwise block.
        let file = try Self.opened(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC))
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Refusal(errno) }
        if let kind = FileIdentity.kind(status.st_mode) { throw Refusal("it is a \(kind)") }
        guard status.st_nlink == 1 else { throw Refusal("it is a second name of another file") }
        guard status.st_size <= Self.greatest else { throw Refusal("it has \(status.st_size) bytes") }
        return try Self.contents(file, count: Int(status.st_size))
      }
    }
  }

  /// Reads a known number of bytes. Throws if the file ends early.
  private static func contents(_ file: Int32, count: Int) throws -> Data {
    var data = Data(count: count)
    var filled = 0
    while filled < count {
      let got = data.withUnsafeMutableBytes {
        MoonbasePlatform.read(file, $0.baseAddress.map { $0 + filled }, count - filled)
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw Refusal(errno) }
      guard got > 0 else { throw Refusal("it ends early") }
      filled += got
    }
    return data
  }

  /// Creates a file whose bytes are durable when this returns; its name is durable after `synchronize`. Throws
  /// `.storeFailure` if the file exists or cannot be written.
  func write(_ value: Data, to name: String) throws {
    try reporting("cannot be written", name: name, advice: "") {
      guard value.count <= Self.greatest else { throw Refusal("the value has \(value.count) bytes") }
      try entered(creating: true) { folder in
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = try Self.opened(openat(folder, name, flags, 0o644))
        defer { close(file) }
        try allow(.write, name)
        try Self.put(value, into: file)
        try allow(.synchronize, name)
        guard fsync(file) == 0 else { throw Refusal(errno) }
      }
    }
  }

  /// Writes all bytes, in several steps if necessary.
  private static func put(_ value: Data, into file: Int32) throws {
    try value.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let part = UnsafeRawBufferPointer(rebasing: rest)
        let count = MoonbasePlatform.write(file, part.baseAddress, part.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw Refusal(errno) }
        rest = rest.dropFirst(count)
      }
    }
  }

  /// Moves files from the folder of another store on the same disk. Throws `.storeFailure`; files that were moved
  /// before the failure stay moved.
  func move(_ names: [String], from other: SupportFolder) throws {
    guard !names.isEmpty else { return }
    for name in names {
      try other.reporting("cannot be moved", name: name, advice: "") {
        try other.entered(creating: false) { source in
          try entered(creating: true) { folder in
            guard renameat(source, name, folder, name) == 0 else { throw Refusal(errno) }
          }
        }
      }
    }
    try synchronize()
  }

  /// Removes a file. A failure is ignored and leaves an orphan.
  package func remove(_ name: String) {
    try? entered(creating: false) { folder in
      try allow(.remove, name)
      _ = unlinkat(folder, name, 0)
    }
  }

  /// Removes the folder if it is empty. Both levels of the folder.
  package func removeIfEmpty() {
    if rmdir("\(topPath)/\(parts[1])") == 0 { rmdir(topPath) }
  }

  /// The names of files that are older than `age` seconds. By the time of modification. Links and special files are
  /// left out.
  package func names(olderThan age: TimeInterval) -> [String] {
    let bound = Int(Date().timeIntervalSince1970 - age)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path("."))) ?? []
    return
      (try? entered(creating: false) { folder in
        names.filter { name in
          var status = stat()
          guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
          return FileIdentity.kind(status.st_mode) == nil && FileIdentity.modification(status).tv_sec < bound
        }
      }) ?? []
  }

  // MARK: The folder

  /// Makes the names of new files durable. Throws `.storeFailure`.
  package func synchronize() throws {
    try reporting("cannot be written", name: "", advice: "") {
      try allow(.synchronizeFolder)
      try entered(creating: false) { if fsync($0) != 0 { throw Refusal(errno) } }
    }
  }

  /// Makes a commit durable: the store's log, or the removal of the rollback journal. Returns false on failure. Used
  /// before files of older rows are removed.
  func synchronizeCommit(log path: String) -> Bool {
    observer?.failure(of: .synchronizeCommit) ?? 0 == 0 && Self.synchronize(path) && Self.synchronize(storeFolder)
  }

  /// Makes a file's contents durable, if the file exists; returns false on failure. A link is not followed.
  @discardableResult
  package static func synchronize(_ path: String) -> Bool {
    let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return errno == ENOENT }
    defer { close(file) }
    return fsync(file) == 0
  }

  /// Opens the folder step by step, and calls `body` with its descriptor. Throws `Refusal` for links. With `creating`,
  /// missing folders are made.
  private func entered<Result>(creating: Bool, _ body: (Int32) throws -> Result) throws -> Result {
    var folder = try Self.opened(UnlinkedPath.open(storeFolder, O_RDONLY | O_DIRECTORY))
    defer { close(folder) }
    for part in parts {
      if creating, mkdirat(folder, part, 0o755) == 0 { fsync(folder) }
      let next = openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      // Without following links, a link is reported as not being a folder.
      if next < 0, errno == ENOTDIR || errno == ELOOP { throw Refusal("\(part) is a link or no folder") }
      let entered = try Self.opened(next)
      close(folder)
      folder = entered
    }
    return try body(folder)
  }

  // MARK: Errors

  /// The reason why the system, or a safety check, refused the access.
  private struct Refusal: Error {
    /// Part of the message.
    let reason: String

    /// A refusal by a check.
    init(_ reason: String) { self.reason = reason }
    /// A refusal by the system, with the number of its error.
    init(_ number: Int32) { reason = String(cString: strerror(number)) }
  }

  /// Throws if a test makes the step fail.
  private func allow(_ step: StatementObserver.FileStep, _ name: String = "") throws {
    if let number = observer?.failure(of: step, name), number != 0 { throw Refusal(number) }
  }

  /// A descriptor, or the system's error.
  private static func opened(_ descriptor: Int32) throws -> Int32 {
    if descriptor < 0 { throw Refusal(errno == ELOOP ? "it is a link" : String(cString: strerror(errno))) }
    return descriptor
  }

  /// Runs `body`, and translates errors of the system with the name of the file.
  private func reporting<Result>(
    _ what: String, name: String, advice: String, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let refusal as Refusal {
      throw GraphError(
        .storeFailure,
        message: "\(path(name)), a file of the store's external values, \(what) (\(refusal.reason))\(advice)")
    }
  }
}
