import MoonbasePlatform

/// The inputs of earlier prompts. They are stored in a file in the state folder, with a line for each input. Only the
/// user can read the file.
///
/// Several prompts may use the file at a time. Each input is therefore appended with a single
/// write.
struct LineHistory {
  /// The maximum number of inputs.
  static let greatestCount = 1000
  /// The maximum size of an input that is stored, in bytes.
  private static let greatestInput = 64 << 10
  /// The size in bytes after which the file is shortened.
  private static let greatestFile = 4 << 20

  /// The path of the file, or nil if the user has no home folder.
  private let path: String?
  /// The inputs in chronological order.
  private(set) var inputs: [[UInt8]] = []
  /// The reason why inputs cannot be stored, or nil if they can.
  private(set) var problem: String?

  /// Reads the file, and creates it if it does not exist.
  ///
  /// A file that has become too long is shortened.
  init() {
    path = Self.path
    if let path { problem = Self.problem(with: path) } else { problem = "there is no home folder" }
    if let path, problem == nil { read(path) }
  }

  /// Creates the file if it does not exist. Returns the reason if it cannot be used.
  ///
  /// - Parameter path: The path of the file.
  /// - Returns: The reason, for a message.
  private static func problem(with path: String) -> String? {
    do {
      try FileManager.default.createDirectory(
        atPath: path.folderOfPath, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      return "the folder \(path.folderOfPath) cannot be made"
    }
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return "\(path): \(String(cString: strerror(errno)))" }
    close(descriptor)
    chmod(path, 0o600)
    return nil
  }

  /// The path of the file: `$XDG_STATE_HOME/moonbase/history`, or `~/.local/state/moonbase/history`.
  private static var path: String? {
    let environment = ProcessInfo.processInfo.environment
    if let folder = environment["XDG_STATE_HOME"], folder.hasPrefix("/") { return "\(folder)/moonbase/history" }
    guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
    return "\(home)/.local/state/moonbase/history"
  }

  /// Reads the inputs, and keeps the last `greatestCount` of them.
  private mutating func read(_ path: String) {
    let bytes: [UInt8]
    var isLong = false
    do { bytes = try BoundedFile.read(path, limit: Self.greatestFile) } catch .tooLarge {
      (bytes, isLong) = (Self.end(of: path), true)
    } catch {
      problem = "\(path): \(error.reason)"
      return
    }
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    inputs = lines.suffix(Self.greatestCount).map(Self.unescaped)
    if isLong || lines.count > 2 * Self.greatestCount { shorten(path, to: lines.suffix(Self.greatestCount)) }
  }

  /// The last complete lines of a file, up to half of its maximum size.
  ///
  /// - Parameter path: The path of a file that is larger than the maximum.
  private static func end(of path: String) -> [UInt8] {
    guard let file = FileHandle(forReadingAtPath: path) else { return [] }
    defer { try? file.close() }
    guard let size = try? file.seekToEnd(), (try? file.seek(toOffset: size - UInt64(greatestFile / 2))) != nil,
      let bytes = try? file.read(upToCount: greatestFile / 2)
    else { return [] }
    return Array(bytes.drop { $0 != UInt8(ascii: "\n") })
  }

  /// Replaces a file that has become too long by a new file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - lines: The lines to keep.
  private func shorten(_ path: String, to lines: ArraySlice<ArraySlice<UInt8>>) {
    let new = "\(path).\(getpid())"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")]
    if write(descriptor, bytes, bytes.count) == bytes.count { rename(new, path) } else { unlink(new) }
  }

  /// Adds an input. An input that starts with a space is not stored, and a repetition of the last input is not stored
  /// either.
  ///
  /// - Parameter input: The bytes of the input, which may have several lines.
  mutating func add(_ input: [UInt8]) {
    guard let path, problem == nil, input.count <= Self.greatestInput, input.first != UInt8(ascii: " "),
      inputs.last != input
    else { return }
    inputs.append(input)
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let line = Self.escaped(input) + [UInt8(ascii: "\n")]
    _ = write(descriptor, line, line.count)
  }

  /// The input with line ends escaped as `\n`.
  private static func escaped(_ input: [UInt8]) -> [UInt8] {
    input.flatMap { byte -> [UInt8] in
      switch byte {
      case UInt8(ascii: "\n"): Array("\\n".utf8)
      case UInt8(ascii: "\\"): Array("\\\\".utf8)
      default: [byte]
      }
    }
  }

  /// The reverse of `escaped`.
  private static func unescaped(_ line: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var rest = line
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
        result.append(byte)
        continue
      }
      result.append(next == UInt8(ascii: "n") ? UInt8(ascii: "\n") : next)
    }
    return result
  }
}
