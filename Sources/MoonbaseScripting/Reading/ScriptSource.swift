public import MoonbaseLua
import MoonbaseModel
public import MoonbasePlatform

/// The text of a script with its name.
///
/// ```swift
/// let script = ScriptSource(name: "hello.lua", text: "print('hello')")
/// ```
///
/// The bytes are read once and kept; a changed file is a new value. Extensions, scripts, tests and models in Lua are
/// all read by this type, which checks size and encoding.
public struct ScriptSource: Sendable, Hashable {
  /// The name in messages: the path as given by the caller.
  public let name: String
  /// The text.
  public let text: String
  /// The folder that `require` searches first.
  public var folder: URL? { folderPath.map { URL(literalPath: $0) } }

  /// The bytes of a program that is not text; `text` is empty then.
  package let program: [UInt8]?

  /// The limits of the extension in this source; nil if the host gave none.
  var extensionLimits: ExtensionLimits?

  /// The files and variables granted to the extension in this source.
  var grants: LuaFileAccess?

  // A path instead of a URL, because making a URL takes longer than reading the file.
  let folderPath: String?

  /// A script from a text.
  public init(name: String, text: String, folder: URL? = nil) {
    self.name = name
    self.text = text
    program = nil
    folderPath = folder?.path
  }

  /// Reads a file of at most `limit` bytes; nil allows the greatest size of a source.
  ///
  /// Throws `ScriptError` with `.cannotOpenFile` if the file is missing, a folder, a pipe, a device or not UTF-8 text,
  /// and with `.sourceTooLarge`.
  public init(contentsOf url: URL, limit: Int? = LuaLimits().sourceSize) throws(ScriptError) {
    try self.init(path: url.pathAsGiven, name: url.relativePath, limit: limit)
  }

  /// Reads the file at a path. Throws as `init(contentsOf:)` does.
  public init(path: String, limit: Int? = LuaLimits().sourceSize) throws(ScriptError) {
    try self.init(path: path, name: path, limit: limit)
  }

  /// Reads a file as a program or as a text: see `init(bytes:name:isProgram:)`.
  package init(path: String, isProgram: Bool, limit: Int?) throws(ScriptError) {
    try self.init(path: path, name: path, isProgram: isProgram, limit: limit)
  }

  /// A script from bytes, without a folder.
  ///
  /// A program is anything that plain Lua accepts: text in any encoding, or bytecode. Only preset `trusted` runs
  /// programs that are not text. If `isProgram` is false, throws `ScriptError` with `.cannotOpenFile` for bytes that
  /// are not UTF-8 text.
  package init(bytes: [UInt8], name: String, isProgram: Bool) throws(ScriptError) {
    try self.init(bytes: bytes, name: name, folderPath: nil, isProgram: isProgram)
  }

  private init(path: String, name: String, isProgram: Bool = false, limit: Int?) throws(ScriptError) {
    try self.init(
      bytes: Self.read(path, name: name, limit: limit), name: name, folderPath: path.folderOfPath, isProgram: isProgram)
  }

  /// Checks the encoding: bytecode and bytes that are not UTF-8 are accepted for programs only.
  private init(bytes: [UInt8], name: String, folderPath: String?, isProgram: Bool) throws(ScriptError) {
    let text = bytes.withUnsafeBufferPointer { String(validUTF8: $0) }
    guard isProgram || text != nil && bytes.first != 0x1B else {
      throw ScriptError(.cannotOpenFile, message: "\(name) is \(Self.form(of: bytes)): a Lua source is expected")
    }
    self.name = name
    self.text = text ?? ""
    program = text == nil ? bytes : nil
    self.folderPath = folderPath
  }

  /// A description of bytes that are not text.
  private static func form(of bytes: [UInt8]) -> String {
    if bytes.starts(with: "SQLite format 3\0".utf8) { return "a SQLite database; a store is named with --store" }
    if bytes.starts(with: "bplist00".utf8) { return "a property list; a compiled model is named with --model" }
    return bytes.first == 0x1B ? "bytecode" : "no UTF-8 text"
  }

  /// Reads at most `limit` bytes of a regular file, with the refusal as an error.
  private static func read(_ path: String, name: String, limit: Int?) throws(ScriptError) -> [UInt8] {
    do {
      return try BoundedFile.read(path, limit: limit ?? LuaSource.greatestSize)
    } catch {
      throw refusal(of: name, failure: error)
    }
  }

  /// Reads standard input, with the form of `init(bytes:name:isProgram:)`.
  package init(standardInputAs name: String, isProgram: Bool, limit: Int?) throws(ScriptError) {
    let bytes: [UInt8]
    do {
      bytes = try BoundedFile.read(STDIN_FILENO, limit: limit ?? LuaSource.greatestSize)
    } catch {
      throw Self.refusal(of: name, failure: error)
    }
    try self.init(bytes: bytes, name: name, isProgram: isProgram)
  }

  /// Whether a name is that of a model bundle of Xcode, for the advice.
  private static func isModel(_ name: String) -> Bool {
    [".xcdatamodeld", ".xcdatamodel", ".momd"].contains { name.hasSuffix($0) || name.hasSuffix("\($0)/") }
  }

  /// The error for a file that cannot be read, with advice.
  private static func refusal(of name: String, failure: BoundedFile.Failure) -> ScriptError {
    switch failure {
    case .tooLarge(let limit):
      ScriptError(
        .sourceTooLarge, message: "\(name): the source has more than \(limit) bytes; --limit-source allows more")
    case .folder:
      ScriptError(
        .cannotOpenFile,
        message:
          "\(name) is a folder; a script file is expected\(isModel(name) ? ", and a model is named with --model" : "")")
    case .system(ENOENT), .system(ENOTDIR): ScriptError(.cannotOpenFile, message: "\(name): there is no such file")
    case .special, .system: ScriptError(.cannotOpenFile, message: "\(name) cannot be read: \(failure.reason)")
    }
  }
}
