import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The file of rejected rows, in the format of the input, each with its line and the reason: to be corrected and
/// imported again.
///
/// The added columns have names that begin with `_`, which an import ignores.
///
/// The file is created with its first row. Each chunk is flushed to disk before the save, and cut
/// back if the save fails, so the file and the store agree after a crash. The object owns the
/// descriptor.
final class RejectFile {
  /// The added columns.
  static let columns = ["_line", "_column", "_value", "_reason", "_record"]

  /// The format of the file.
  enum Form {
    /// `null` is the unquoted field for no value.
    case csv(separator: UInt8, null: [UInt8])
    /// A JSON object on each line.
    case json
  }

  /// The path of the file.
  let path: String
  /// The format.
  private let form: Form
  /// Whether an existing file may be overwritten.
  private let replaces: Bool
  /// Receives the file's number before the first row is written.
  private let didBegin: (UInt64) throws -> Void
  /// The inode of the file that this run or the ended run wrote; nil if unknown.
  private var number: UInt64?
  /// The open file; -1 before the first row.
  private var descriptor: Int32 = -1
  /// Rows that are not written yet.
  private var buffer: [UInt8] = []
  /// The length of the file including the buffer.
  private(set) var length: Int64 = 0

  /// A file that is created for its first row. With a `trace` an earlier run has written that much of it, and the rest
  /// is cut off.
  ///
  /// Throws `ImportError` if the file is not the one of the trace, and `RejectFailure` if it cannot
  /// be opened.
  init(
    _ path: String, _ form: Form, keeping trace: RejectTrace = RejectTrace(), replaces: Bool,
    didBegin: @escaping (UInt64) throws -> Void
  ) throws {
    (self.path, self.form, self.replaces, length) = (path, form, replaces, trace.length)
    (self.didBegin, number) = (didBegin, trace.number)
    guard length > 0 else { return }
    do { try open(creating: false) } catch let failure as RejectFailure where failure.number == ENOENT {
      throw Self.incomplete(path)
    }
    guard trace.matches(descriptor), ftruncate(descriptor, off_t(length)) == 0, lseek(descriptor, 0, SEEK_END) >= 0
    else { throw Self.incomplete(path) }
  }

  /// The error that the file of the ended run is missing or changed.
  private static func incomplete(_ path: String) -> ImportError {
    ImportError(
      message:
        "\(path) is not the file with the rejected rows of the run that ended, or not all of it: name another file with "
        + "--rejects, or begin anew with --restart")
  }

  /// Cuts off the unsaved rows of an ended run, in a file that is not continued.
  static func leave(_ path: String, at trace: RejectTrace) {
    let descriptor = MoonbasePlatform.open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    if trace.matches(descriptor) { ftruncate(descriptor, off_t(trace.length)) }
  }

  /// The trace by which a later run recognises the file, after all rows are written.
  var trace: RejectTrace {
    guard length > 0, descriptor >= 0 else { return RejectTrace(length: length, number: number) }
    return RejectTrace(
      length: length, digest: InputFingerprint.digest(of: descriptor, before: length), number: number)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Adds a row with its column values. Values that an earlier reject file added are replaced.
  ///
  /// For JSON, a row of `{"age": "x"}` becomes `{"age": "x", "_line": 3, "_column": "age", ...}`.
  func add(_ names: [String], _ fields: (Int) -> InputField, line: Int64, _ fault: RowFault) {
    let before = buffer.count
    let kept = names.indices.filter { !Self.columns.contains(names[$0]) }
    // An unreadable record is kept until it is corrected.
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
        // A database may contain infinite numbers, which JSON does not have.
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

  /// Adds the line of names in csv.
  private func addHeader(_ names: [String], _ separator: UInt8) {
    for (index, name) in (names + Self.columns).enumerated() {
      if index > 0 { buffer.append(separator) }
      buffer.append(field: name, separator: separator, isQuoted: name.isEmpty)
    }
    buffer.append(UInt8(ascii: "\n"))
  }

  /// Removes everything added after the file had this length.
  ///
  /// Bytes in the buffer are dropped, and bytes in the file are cut off. Throws `RejectFailure`.
  func cut(to earlier: Int64) throws {
    let lost = Int(length - earlier)
    length = earlier
    guard lost > buffer.count else { return buffer.removeLast(lost) }
    buffer.removeAll()
    // A device keeps no data that could be cut off.
    guard ftruncate(descriptor, off_t(length)) == 0 && lseek(descriptor, 0, SEEK_END) >= 0 || errno == EINVAL else {
      throw RejectFailure(path, errno)
    }
  }

  /// Whether the buffer should be written.
  var isFull: Bool { buffer.count > 4 << 20 }

  /// Writes everything to disk, before the surrounding rows are saved.
  ///
  /// Throws `RejectFailure`. A row that was written in part is removed again.
  func flush() throws {
    guard !buffer.isEmpty else { return }
    if descriptor < 0 {
      try open(creating: true)
      try clear()
    }
    var written = 0
    while written < buffer.count {
      let count = buffer.withUnsafeBytes {
        MoonbasePlatform.write(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let failure = RejectFailure(path, errno)
        // Removes the part of a row that was written.
        _ = ftruncate(descriptor, off_t(length - Int64(buffer.count)))
        throw failure
      }
      written += count
    }
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else { throw RejectFailure(path, errno) }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Follows a link only to pipes and devices, such as `/dev/stderr`. A file behind a link is not the file that was
  /// named.
  ///
  /// Throws `RejectFailure`.
  private func open(creating: Bool) throws {
    let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (creating ? O_CREAT : 0)
    descriptor = MoonbasePlatform.open(path, flags, 0o666)
    if descriptor < 0, errno != ELOOP, errno != EACCES { throw RejectFailure(path, errno) }
    if descriptor >= 0, kind == nil { return }
    let failure = errno
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
    let isOpened = BoundedFile.isOpened(path)
    guard isOpened || FileIdentity.kind(path) != nil else { throw RejectFailure(path, failure) }
    descriptor = MoonbasePlatform.open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0, isOpened || kind != nil else { throw RejectFailure(path, descriptor < 0 ? errno : ELOOP) }
  }

  /// The kind of the open file; nil for a regular file.
  private var kind: String? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? FileIdentity.kind(status.st_mode) : nil
  }

  /// Empties the file for its first rows. A file with contents that may not be overwritten must belong to the run that
  /// was ended.
  ///
  /// Throws `RejectFailure` with `EEXIST` for a file of an earlier import.
  private func clear() throws {
    var status = stat()
    guard fstat(descriptor, &status) == 0, FileIdentity.kind(status.st_mode) == nil else { return }
    let found = UInt64(status.st_ino)
    guard replaces || status.st_size == 0 || found == number else { throw RejectFailure(path, EEXIST) }
    if found != number { try didBegin(found) }
    number = found
    guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw RejectFailure(path, errno) }
  }
}
