import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// What is imported: a file or standard input, in one of the forms.
package final class ImportInput {
  package enum Format: String, CaseIterable, Sendable { case csv, tsv, json, ndjson }

  /// How the text of a file is to be read, where that is not found out.
  package struct TextForm: Sendable {
    /// Of csv; nil for that of its first lines.
    package var separator: UInt8?
    /// Nil for UTF-8.
    package var encoding: TextEncoding?
    /// Whether the first line of csv has names.
    package var hasNames = true

    package init(separator: UInt8? = nil, encoding: TextEncoding? = nil, hasNames: Bool = true) {
      (self.separator, self.encoding, self.hasNames) = (separator, encoding, hasNames)
    }
  }

  /// The path; nil for standard input.
  package let path: String?
  package let format: Format
  /// How many bytes there are; nil where nobody knows.
  package let size: Int64?
  /// By what a later run recognises the file; nil where it cannot be read again.
  package let fingerprint: InputFingerprint?
  let reader: any RecordReader
  /// Warnings to be printed before any row is taken.
  package let warnings: [String]
  private let null: [UInt8]
  private let descriptor: Int32
  package let rejectPath: String
  /// Where they go unless another place is named.
  package let usualRejectPath: String

  /// Opens a file. Without a format its name says it. What was spooled is read from its beginning. `wait` says how pipes are waited for.
  /// What a dry run rejects goes to a file of its own, so that the real one finds no reject file of an earlier import.
  package init(
    _ path: String?, format: Format?, null: String = "", as form: TextForm = TextForm(), rejectPath: String?,
    isDryRun: Bool = false, spool: InputSpool? = nil, wait: InputWait? = nil
  ) throws {
    self.path = path
    self.null = Array(null.utf8)
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
        case .csv: try CSVReader(bytes, separator: form.separator, null: null, hasNames: form.hasNames)
        case .tsv: try CSVReader(bytes, separator: form.separator ?? 9, null: null, hasNames: form.hasNames)
        case .json: try JSONReader(bytes, isArray: true)
        case .ndjson: try JSONReader(bytes, isArray: false)
        }
    } catch let error as InputError {
      throw Self.error(error, path)
    }
    // Places in what is unpacked or converted are none in the file.
    size = isFile && !packed.isPacked && form.encoding == nil ? Int64(status.st_size) : nil
    warnings = Self.warnings(of: reader, path)
  }

  /// A file that comes out as one column may have been split at the wrong character.
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

  /// The rows of a question to a database, so many.
  init(_ reader: any RecordReader, of path: String, count: Int64, rejectPath: String) {
    (self.reader, self.path, size, self.rejectPath) = (reader, path, count, rejectPath)
    warnings = []
    usualRejectPath = rejectPath
    (format, fingerprint, null, descriptor) = (.ndjson, nil, [], -1)
  }

  /// Keeps other imports from the file as long as this one has it open: they would write to the same file of rejected rows.
  ///
  /// Throws where one has it.
  package func claim() throws {
    if let path { try Self.claim(descriptor, of: "file", path) }
  }

  /// The same of what is open elsewhere: a file, or a folder by its index.
  static func claim(_ descriptor: Int32, of kind: String, _ path: String) throws {
    guard flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK else { return }
    throw GraphError(
      .storeBusy, message: "\(path): another import of this \(kind) is at work: wait for its end, and see what it took")
  }

  private static func fingerprint(of descriptor: Int32, _ status: stat) -> InputFingerprint {
    let time = FileIdentity.modification(status)
    return InputFingerprint(
      content: InputFingerprint.content(of: descriptor, size: Int64(status.st_size)),
      former: "\(status.st_size) \(time.tv_sec).\(time.tv_nsec)"
    ) { InputFingerprint.digest(of: descriptor, before: $0) }
  }

  /// The name of a file without the ending of what is packed.
  package static func unpacked(_ name: String) -> String {
    name.lowercased().hasSuffix(".gz") ? String(name.dropLast(3)) : name
  }

  private static func format(_ path: String) -> Format? {
    let ending = unpacked(path).split(separator: ".").last.map { $0.lowercased() } ?? ""
    return ending == "jsonl" ? .ndjson : Format(rawValue: ending)
  }

  /// What is wrong with the input as a whole, in words.
  static func error(_ error: InputError, _ path: String?) -> any Error {
    let name = path ?? "standard input"
    return switch error {
    case .unreadable(let what): ImportError(message: "\(name): \(what)")
    case .recordTooLong: ImportError(message: "\(name): a record has more than \(InputBytes.greatestRecord >> 20) MiB")
    case .malformed(let what, let line): ImportError(message: "\(name), line \(line): \(what)")
    case .interrupted: GraphError(.interrupted, message: "interrupted while \(name) was waited for: nothing was done")
    }
  }

  var rejectForm: RejectFile.Form {
    (reader as? CSVReader).map { .csv(separator: $0.separator, null: null) } ?? .json
  }
}
