import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The rows that were not taken, in the form of the input, each with its line and with what is wrong: to be mended and imported again.
///
/// What it adds are columns whose names begin with `_`, which an import passes over.
final class RejectFile {
  /// The columns that are added.
  static let columns = ["_line", "_column", "_value", "_reason", "_record"]

  enum Form {
    case csv(separator: UInt8)
    case json
  }

  let path: String
  private let form: Form
  private var descriptor: Int32 = -1
  private var buffer: [UInt8] = []
  /// How many bytes the file has with what is in the buffer.
  private(set) var length: Int64 = 0
  private(set) var count = 0

  /// A file that is made when there is a row for it. With `length` an earlier run has written so much of it; what follows is cut off.
  init(_ path: String, _ form: Form, keeping length: Int64 = 0) throws {
    (self.path, self.form, self.length) = (path, form, length)
    guard length > 0 else { return }
    try open(O_WRONLY)
    var status = stat()
    guard fstat(descriptor, &status) == 0, Int64(status.st_size) >= length, ftruncate(descriptor, off_t(length)) == 0,
      lseek(descriptor, 0, SEEK_END) >= 0
    else {
      throw ImportError(
        message: "\(path): the rejected rows of the run that ended are not all there: --restart begins anew")
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Adds a row with what its columns say.
  func add(_ names: [String], _ fields: (Int) -> InputField, line: Int64, _ fault: RowFault) {
    switch form {
    case .csv(let separator):
      if length == 0 { append(csv: names + Self.columns, separator) }
      var cells: [(text: String, isNone: Bool)] = names.indices.map {
        let field = fields($0)
        return (field.shownText, field.kind == .none || field.kind == .missing)
      }
      for text in [String(line), fault.column, fault.value, fault.reason, fault.record] {
        cells.append((text ?? "", text == nil))
      }
      for (index, cell) in cells.enumerated() {
        if index > 0 { write([separator]) }
        if !cell.isNone { write(Self.quoted(cell.text, separator)) }
      }
      write([10])
    case .json:
      write(Array("{".utf8))
      var isFirst = true
      func member(_ name: String, _ json: [UInt8]) {
        if !isFirst { write(Array(", ".utf8)) }
        isFirst = false
        write(Self.quotedJSON(name) + Array(": ".utf8) + json)
      }
      for (index, name) in names.enumerated() where !Self.columns.contains(name) {
        let field = fields(index)
        switch field.kind {
        case .missing: break
        case .none: member(name, Array("null".utf8))
        case .text: member(name, Self.quotedJSON(field.shownText))
        case .number, .bool, .nested: member(name, Array(field.bytes))
        }
      }
      member("_line", Array(String(line).utf8))
      for (name, text) in zip(Self.columns.dropFirst(), [fault.column, fault.value, fault.reason, fault.record]) {
        if let text { member(name, Self.quotedJSON(text)) }
      }
      write(Array("}\n".utf8))
    }
    count += 1
  }

  /// Where the file stands, to come back to.
  var mark: (length: Int64, count: Int) { (length, count) }

  /// Takes back what was added since.
  func cut(to mark: (length: Int64, count: Int)) throws {
    let lost = Int(length - mark.length)
    (length, count) = mark
    guard lost > buffer.count else { return buffer.removeLast(lost) }
    buffer.removeAll()
    guard ftruncate(descriptor, off_t(length)) == 0, lseek(descriptor, 0, SEEK_END) >= 0 else { throw failure() }
  }

  /// Hands everything to the disk, before the rows around those that are here are saved.
  func flush() throws {
    guard !buffer.isEmpty else { return }
    if descriptor < 0 { try open(O_WRONLY | O_CREAT | O_TRUNC) }
    var written = 0
    while written < buffer.count {
      let count = buffer.withUnsafeBytes {
        MoonbasePlatform.write(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure() }
      written += count
    }
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else { throw failure() }
    buffer.removeAll(keepingCapacity: true)
  }

  private func open(_ flags: Int32) throws {
    descriptor = MoonbasePlatform.open(path, flags | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failure() }
  }

  private func failure() -> ImportError {
    ImportError(message: "the rejected rows cannot be written to \(path): \(String(cString: strerror(errno)))")
  }

  private func write(_ bytes: [UInt8]) {
    buffer.append(contentsOf: bytes)
    length += Int64(bytes.count)
  }

  private func append(csv names: [String], _ separator: UInt8) {
    write(Array(names.map { Self.quoted($0, separator) }.joined(separator: [separator])))
    write([10])
  }

  private static func quoted(_ text: String, _ separator: UInt8) -> [UInt8] {
    let special: [UInt8] = [separator, 0x22, 10, 13]
    guard text.isEmpty || text.utf8.contains(where: special.contains) else { return Array(text.utf8) }
    return Array("\"\(text.replacing("\"", with: "\"\""))\"".utf8)
  }

  private static func quotedJSON(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = [0x22]
    for byte in text.utf8 {
      switch byte {
      case 0x22, 0x5c: bytes += [0x5c, byte]
      case 0x0a: bytes += Array("\\n".utf8)
      case 0..<0x20:
        let digits = String(byte, radix: 16)
        bytes += Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
      default: bytes.append(byte)
      }
    }
    return bytes + [0x22]
  }
}
