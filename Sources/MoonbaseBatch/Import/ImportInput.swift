import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The input of an import: a file or standard input, in one of several formats.
///
/// The input owns the chain of byte sources and the reader. It knows the path of the file of
/// rejected rows, and how messages name the input. It is opened once and read by one `Importer` or
/// one `RowInference`.
package final class ImportInput {
  /// The format of an input.
  package enum Format: String, CaseIterable, Sendable { case csv, tsv, json, ndjson }

  /// The form of a text file, where it is not detected.
  package struct TextForm: Sendable {
    /// The separator of csv; nil to detect it from the first lines.
    package var separator: UInt8?
    /// The encoding; nil for UTF-8.
    package var encoding: TextEncoding?
    /// Whether the first line of csv contains the column names.
    package var hasNames = true

    /// A form with these settings.
    package init(separator: UInt8? = nil, encoding: TextEncoding? = nil, hasNames: Bool = true) {
      (self.separator, self.encoding, self.hasNames) = (separator, encoding, hasNames)
    }
  }

  /// The path; nil for standard input.
  package let path: String?
  /// The format.
  package let format: Format
  /// The number of bytes; nil if unknown.
  package let size: Int64?
  /// The identity by which a later run recognises the file; nil if it cannot be read again.
  package let fingerprint: InputFingerprint?
  /// The reader of the records.
  let reader: any RecordReader
  /// Warnings to print before rows are imported.
  package let warnings: [String]
  /// The texts for no value in csv.
  private let nulls: [String]
  /// The descriptor, on which `claim` holds its lock.
  private let descriptor: Int32
  /// The path of the file for rejected rows.
  package let rejectPath: String
  /// The default path for rejected rows.
  package let usualRejectPath: String

  /// Opens an input. Without a format, the name determines it. A spooled input is read from its beginning. `wait`
  /// determines how pipes are waited for. A dry run has its own file of rejected rows, so that it does not affect the
  /// file of a real import.
  ///
  /// Throws `ImportError` for a file that cannot be opened, a folder, and a name without a known
  /// ending such as `csv`, `tsv`, `json`, `jsonl` or `ndjson`, with or without `gz` behind it.
  package init(
    _ path: String?, format: Format?, nulls: [String] = [""], as form: TextForm = TextForm(), rejectPath: String?,
    isDryRun: Bool = false, spool: InputSpool? = nil, wait: InputWait? = nil
  ) throws {
    self.path = path
    self.nulls = nulls
    guard let format = format ?? path.flatMap(Self.format) else {
      throw ImportError(
        message: path.map { "\($0): its name does not say in which form it is: give --format csv, tsv, json or ndjson" }
          ?? "standard input has no name that says in which form it is: give --format csv, tsv, json or ndjson")
    }
    self.format = format
    let descriptor: Int32
    if let spool {
      descriptor = dup(spool.descriptor)
      guard descriptor >= 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
        throw ImportError(message: "\(path ?? "standard input"): \(String(cString: strerror(errno)))")
      }
    } else if let path {
      descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw ImportError(message: "\(path): \(String(cString: strerror(errno)))") }
    } else {
      descriptor = STDIN_FILENO
    }
    self.descriptor = descriptor
    var status = stat()
    let isKnown = fstat(descriptor, &status) == 0
    let isFile = isKnown && status.st_mode & S_IFMT == S_IFREG
    let packed = GzipSource(FileSource(descriptor, closes: path != nil || spool != nil, isFile ? nil : wait))
    let bytes = InputBytes(form.encoding.map { EncodedSource(packed, $0) } ?? packed)
    guard isKnown else {
      throw ImportError(message: "\(path ?? "standard input"): \(String(cString: strerror(errno)))")
    }
    guard status.st_mode & S_IFMT != S_IFDIR else {
      throw ImportError(message: "\(path ?? "standard input") is a folder: import --all takes a folder")
    }
    fingerprint =
      spool.map { InputFingerprint(content: $0.fingerprint) }
      ?? (isFile && path != nil ? Self.fingerprint(of: descriptor, status) : nil)
    let given = path.map { $0.split(separator: "/").last.map(String.init) ?? $0 } ?? "stdin"
    let name = Self.unpacked(given)
    let stem = name.hasSuffix(".\(format.rawValue)") ? String(name.dropLast(format.rawValue.count + 1)) : name
    let folder = path.map { $0.dropLast(given.count) } ?? ""
    let ending = format == .json ? "ndjson" : format.rawValue
    usualRejectPath = "\(folder)\(stem).\(isDryRun ? "dry-run." : "")rejects.\(ending)"
    self.rejectPath = rejectPath ?? usualRejectPath
    do {
      reader =
        switch format {
        case .csv: try CSVReader(bytes, separator: form.separator, nulls: nulls, hasNames: form.hasNames)
        case .tsv: try CSVReader(bytes, separator: form.separator ?? 9, nulls: nulls, hasNames: form.hasNames)
        case .json: try JSONReader(bytes, isArray: true)
        case .ndjson: try JSONReader(bytes, isArray: false)
        }
    } catch let error as InputError {
      throw Self.error(error, path)
    }
    // Positions in unpacked or converted text are not positions in the file.
    size = isFile && !packed.isPacked && form.encoding == nil ? Int64(status.st_size) : nil
    warnings = Self.warnings(of: reader, path)
  }

  /// A file with a single column may have been split at the wrong character.
  private static func warnings(of reader: any RecordReader, _ path: String?) -> [String] {
    guard let reader = reader as? CSVReader, reader.names.count == 1, let name = reader.names.first,
      name.utf8.contains(where: SeparatorGuess.candidates.contains)
    else { return [] }
    let separator = String(decoding: [reader.separator], as: UTF8.self)
    return [
      "\(path ?? "standard input") comes out as one column, \(TextLimits.beginning(of: name).debugDescription), "
        + "split at \(separator.debugDescription): name the separator with --separator"
    ]
  }

  /// The rows of a database query, `count` in number.
  init(_ reader: any RecordReader, of path: String, count: Int64, rejectPath: String) {
    (self.reader, self.path, size, self.rejectPath) = (reader, path, count, rejectPath)
    warnings = []
    usualRejectPath = rejectPath
    (format, fingerprint, nulls, descriptor) = (.ndjson, nil, [], -1)
  }

  /// Locks the file against other imports until it is closed, because they would write to the same file of rejected
  /// rows.
  ///
  /// Throws if another import holds the lock.
  ///
  /// The error's code is `.storeBusy`.
  package func claim() throws {
    if let path { try Self.claim(descriptor, of: "file", path) }
  }

  /// Locks another open descriptor: a file, or a folder by its index file.
  static func claim(_ descriptor: Int32, of kind: String, _ path: String) throws {
    guard flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK else { return }
    throw GraphError(
      .storeBusy, message: "\(path): another import of this \(kind) is at work: wait for its end, and see what it took")
  }

  /// The identity of a file: a digest of its content, and its size and time as earlier versions
  /// recorded them.
  private static func fingerprint(of descriptor: Int32, _ status: stat) -> InputFingerprint {
    let time = FileIdentity.modification(status)
    return InputFingerprint(
      content: InputFingerprint.content(of: descriptor, size: Int64(status.st_size)),
      former: "\(status.st_size) \(time.tv_sec).\(time.tv_nsec)"
    ) { InputFingerprint.digest(of: descriptor, before: $0) }
  }

  /// The name of a file without the ending of compression.
  package static func unpacked(_ name: String) -> String {
    name.lowercased().hasSuffix(".gz") ? String(name.dropLast(3)) : name
  }

  /// The format that the ending of a name states; nil for unknown endings.
  private static func format(_ path: String) -> Format? {
    let ending = unpacked(path).split(separator: ".").last.map { $0.lowercased() } ?? ""
    return ending == "jsonl" ? .ndjson : Format(rawValue: ending)
  }

  /// The error about an input as a whole.
  ///
  /// The error names the input and, for a record, its line. An interruption becomes an error with
  /// code `.interrupted`.
  static func error(_ error: InputError, _ path: String?) -> any Error {
    let name = path ?? "standard input"
    return switch error {
    case .unreadable(let what): ImportError(message: "\(name): \(what)")
    case .recordTooLong: ImportError(message: "\(name): a record has more than \(InputBytes.greatestRecord >> 20) MiB")
    case .malformed(let what, let line): ImportError(message: "\(name), line \(line): \(what)")
    case .interrupted: GraphError(.interrupted, message: "interrupted while \(name) was waited for: nothing was done")
    }
  }

  /// The format of the file of rejected rows, which is that of the input.
  var rejectForm: RejectFile.Form {
    (reader as? CSVReader).map { .csv(separator: $0.separator, null: Array((nulls.first ?? "").utf8)) } ?? .json
  }
}
