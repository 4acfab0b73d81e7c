import MoonbaseModel
public import MoonbasePlatform

/// The text of a script with its name.
public struct ScriptSource: Sendable, Hashable {
  /// The name in messages: the path as it was given.
  public let name: String
  /// The text.
  public let text: String
  /// The folder that `require` looks in first.
  public var folder: URL? { folderPath.map { URL(fileURLWithPath: $0, isDirectory: true) } }

  /// The bytes of a program that is no text; `text` is empty then.
  package let program: [UInt8]?

  // A path: an URL costs a script's start more than reading the file does.
  private let folderPath: String?

  /// Takes a text.
  public init(name: String, text: String, folder: URL? = nil) {
    self.name = name
    self.text = text
    program = nil
    folderPath = folder?.path
  }

  /// Reads a file. Throws `ScriptError` with `.cannotReadFile` where it is not there, a folder, or no UTF-8 text.
  public init(contentsOf url: URL) throws(ScriptError) { try self.init(path: url.pathAsGiven, name: url.relativePath) }

  /// Reads the file at a path. Throws as `init(contentsOf:)` does.
  public init(path: String) throws(ScriptError) { try self.init(path: path, name: path) }

  /// Reads a file as a program or as a text: see `init(bytes:name:isProgram:)`.
  package init(path: String, isProgram: Bool) throws(ScriptError) {
    try self.init(path: path, name: path, isProgram: isProgram)
  }

  /// Takes what was read of something that has no folder.
  ///
  /// A program is what plain Lua takes: in any encoding, or bytecode. Only preset `trusted` runs one that is no text. Of what
  /// is no program, throws `ScriptError` with `.cannotReadFile` where it is no UTF-8 text.
  package init(bytes: [UInt8], name: String, isProgram: Bool) throws(ScriptError) {
    try self.init(bytes: bytes, name: name, folderPath: nil, isProgram: isProgram)
  }

  private init(path: String, name: String, isProgram: Bool = false) throws(ScriptError) {
    try self.init(
      bytes: Self.read(path, name), name: name, folderPath: path.folderOfPath, isProgram: isProgram)
  }

  private init(bytes: [UInt8], name: String, folderPath: String?, isProgram: Bool) throws(ScriptError) {
    let text = bytes.withUnsafeBufferPointer { String(validUTF8: $0) }
    guard isProgram || text != nil && bytes.first != 0x1B else {
      throw ScriptError(
        .cannotReadFile, "\(name) is \(bytes.first == 0x1B ? "bytecode" : "no UTF-8 text"): a Lua source is expected")
    }
    self.name = name
    self.text = text ?? ""
    program = text == nil ? bytes : nil
    self.folderPath = folderPath
  }

  private static func read(_ path: String, _ name: String) throws(ScriptError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { throw ScriptError(.cannotReadFile, "\(name): there is no such file") }
      throw unreadable(name)
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw unreadable(name) }
    if status.st_mode & S_IFMT == S_IFDIR {
      throw ScriptError(.cannotReadFile, "\(name) is a folder; a script file is expected")
    }
    var bytes: [UInt8] = []
    while true {
      var count = 0
      let piece = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, initialized in
        count = MoonbasePlatform.read(file, buffer.baseAddress, buffer.count)
        initialized = max(count, 0)
      }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw unreadable(name) }
      if count == 0 { return bytes }
      bytes += piece
    }
  }

  private static func unreadable(_ name: String) -> ScriptError {
    ScriptError(.cannotReadFile, "\(name) cannot be read: \(String(cString: strerror(errno)))")
  }
}
