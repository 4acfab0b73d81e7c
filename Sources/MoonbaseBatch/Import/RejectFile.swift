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
    /// `null` is the field, without quotes, that stands for no value.
    case csv(separator: UInt8, null: [UInt8])
    case json
  }

  let path: String
  private let form: Form
  private var descriptor: Int32 = -1
  private var buffer: [UInt8] = []
  /// How many bytes the file has with what is in the buffer.
  private(set) var length: Int64 = 0

  /// A file that is made when there is a row for it. With `length` an earlier run has written so much of it; what follows is cut off.
  init(_ path: String, _ form: Form, keeping length: Int64 = 0) throws {
    (self.path, self.form, self.length) = (path, form, length)
    guard length > 0 else { return }
    do { try open(O_WRONLY) } catch let failure as RejectFailure where failure.number == ENOENT {
      throw Self.incomplete(path)
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, Int64(status.st_size) >= length, ftruncate(descriptor, off_t(length)) == 0,
      lseek(descriptor, 0, SEEK_END) >= 0
    else { throw Self.incomplete(path) }
  }

  private static func incomplete(_ path: String) -> ImportError {
    ImportError(message: "\(path): the rejected rows of the run that ended are not all there: --restart begins anew")
  }

  /// Cuts off what a run that ended has written and not saved, in a file that is left as it is from now on.
  static func leave(_ path: String, at length: Int64) {
    var status = stat()
    guard stat(path, &status) == 0, Int64(status.st_size) > length, FileIdentity.kind(status.st_mode) == nil else {
      return
    }
    truncate(path, off_t(length))
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Adds a row with what its columns say. What an earlier reject file added to them is replaced.
  func add(_ names: [String], _ fields: (Int) -> InputField, line: Int64, _ fault: RowFault) {
    let before = buffer.count
    let kept = names.indices.filter { !Self.columns.contains(names[$0]) }
    // A record that could not be understood once is kept until it is mended.
    let former = names.firstIndex(of: "_record").map(fields).flatMap { $0.kind == .text ? $0.shownText : nil }
    let added = [String(line), fault.column, fault.value, fault.reason, fault.record ?? former]
    switch form {
    case .csv(let separator, let null):
      if length == 0 { addHeader(kept.map { names[$0] }, separator) }
      for index in kept {
        let field = fields(index)
        switch field.kind {
        case .none, .missing: buffer.append(contentsOf: null)
        default:
          buffer.append(
            fieldUTF8: field.bytes, separator: separator,
            isQuoted: field.bytes.isEmpty || field.bytes.elementsEqual(null)
          )
        }
        buffer.append(separator)
      }
      for (index, text) in added.enumerated() {
        if index > 0 { buffer.append(separator) }
        if let text { buffer.append(field: text, separator: separator, isQuoted: text.isEmpty) }
      }
      buffer.append(UInt8(ascii: "\n"))
    case .json:
      var mark = UInt8(ascii: "{")
      func name(_ name: String) {
        buffer.append(mark)
        if mark == UInt8(ascii: ",") { buffer.append(UInt8(ascii: " ")) }
        mark = UInt8(ascii: ",")
        buffer.append(quoted: name)
        buffer.append(contentsOf: ": ".utf8)
      }
      for index in kept {
        let field = fields(index)
        if field.kind == .missing { continue }
        name(names[index])
        switch field.kind {
        case .missing, .none: buffer.append(contentsOf: "null".utf8)
        case .text: buffer.append(quotedUTF8: field.bytes)
        case .binary: buffer.append(quoted: Data(field.bytes).base64EncodedString())
        // A database has infinity, and JSON has not.
        case .number where field.bytes.last == UInt8(ascii: "f"): buffer.append(quotedUTF8: field.bytes)
        case .number, .bool, .nested: buffer.append(contentsOf: field.bytes)
        }
      }
      name(Self.columns[0])
      buffer.append(contentsOf: String(line).utf8)
      for (column, text) in zip(Self.columns, added).dropFirst() {
        guard let text else { continue }
        name(column)
        buffer.append(quoted: text)
      }
      buffer.append(contentsOf: "}\n".utf8)
    }
    length += Int64(buffer.count - before)
  }

  private func addHeader(_ names: [String], _ separator: UInt8) {
    for (index, name) in (names + Self.columns).enumerated() {
      if index > 0 { buffer.append(separator) }
      buffer.append(field: name, separator: separator, isQuoted: name.isEmpty)
    }
    buffer.append(UInt8(ascii: "\n"))
  }

  /// Takes back what was added since the file had a length.
  func cut(to earlier: Int64) throws {
    let lost = Int(length - earlier)
    length = earlier
    guard lost > buffer.count else { return buffer.removeLast(lost) }
    buffer.removeAll()
    // A device keeps nothing that could be cut off.
    guard ftruncate(descriptor, off_t(length)) == 0 && lseek(descriptor, 0, SEEK_END) >= 0 || errno == EINVAL else {
      throw RejectFailure(path, errno)
    }
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
      guard count > 0 else {
        let failure = RejectFailure(path, errno)
        // No part of a row stays behind.
        _ = ftruncate(descriptor, off_t(length - Int64(buffer.count)))
        throw failure
      }
      written += count
    }
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else { throw RejectFailure(path, errno) }
    buffer.removeAll(keepingCapacity: true)
  }

  private func open(_ flags: Int32) throws {
    descriptor = MoonbasePlatform.open(path, flags | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw RejectFailure(path, errno) }
  }
}
