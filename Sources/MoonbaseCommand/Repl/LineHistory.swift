import MoonbasePlatform

/// The inputs of earlier prompts: a file in the state folder that the user alone may read, with a line for each.
struct LineHistory {
  /// So many are kept.
  static let greatestCount = 1000
  private static let greatestInput = 64 << 10
  private static let greatestFile = 4 << 20

  private let path: String?
  /// The inputs, the oldest first.
  private(set) var inputs: [[UInt8]] = []
  /// Why nothing can be kept; nil where it can.
  private(set) var problem: String?

  /// Reads the file, and makes it where it is not there.
  init() {
    path = Self.path
    if let path { problem = Self.problem(with: path) } else { problem = "there is no home folder" }
    if let path, problem == nil { read(path) }
  }

  /// Makes the file where it is not there. Returns why it cannot be used.
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

  /// `$XDG_STATE_HOME/moonbase/history`, or `~/.local/state/moonbase/history`.
  private static var path: String? {
    let environment = ProcessInfo.processInfo.environment
    if let folder = environment["XDG_STATE_HOME"], folder.hasPrefix("/") { return "\(folder)/moonbase/history" }
    guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
    return "\(home)/.local/state/moonbase/history"
  }

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

  /// The last whole lines of a file, half as many bytes as it may have.
  private static func end(of path: String) -> [UInt8] {
    guard let file = FileHandle(forReadingAtPath: path) else { return [] }
    defer { try? file.close() }
    guard let size = try? file.seekToEnd(), (try? file.seek(toOffset: size - UInt64(greatestFile / 2))) != nil,
      let bytes = try? file.read(upToCount: greatestFile / 2)
    else { return [] }
    return Array(bytes.drop { $0 != UInt8(ascii: "\n") })
  }

  /// A new file takes the place of one that has grown long.
  private func shorten(_ path: String, to lines: ArraySlice<ArraySlice<UInt8>>) {
    let new = "\(path).\(getpid())"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")]
    if write(descriptor, bytes, bytes.count) == bytes.count { rename(new, path) } else { unlink(new) }
  }

  /// Adds an input. An input that begins with a blank is not kept, and neither is a repetition of the last one.
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

  /// The ends of lines within an input as `\n`.
  private static func escaped(_ input: [UInt8]) -> [UInt8] {
    input.flatMap { byte -> [UInt8] in
      switch byte {
      case UInt8(ascii: "\n"): Array("\\n".utf8)
      case UInt8(ascii: "\\"): Array("\\\\".utf8)
      default: [byte]
      }
    }
  }

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
