import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// What is imported: a file or standard input, in one of the forms.
package final class ImportInput {
  package enum Format: String, CaseIterable, Sendable { case csv, tsv, json, ndjson }

  /// The path; nil for standard input.
  package let path: String?
  package let format: Format
  /// How many bytes there are; nil where nobody knows.
  package let size: Int64?
  /// By what a later run recognises the file; nil where it cannot be read again.
  package let fingerprint: InputFingerprint?
  let reader: any RecordReader
  private let null: [UInt8]
  private let descriptor: Int32
  package let rejectPath: String
  /// Where they go unless another place is named.
  package let usualRejectPath: String

  /// Opens a file. Without a format its name says it. What was spooled is read from its beginning. `wait` says how pipes are waited for.
  /// What a dry run rejects goes to a file of its own, so that the real one finds no reject file of an earlier import.
  package init(
    _ path: String?, format: Format?, null: String = "", rejectPath: String?, isDryRun: Bool = false,
    spool: InputSpool? = nil, wait: InputWait? = nil
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
    let bytes = InputBytes(descriptor, closes: path != nil || spool != nil, isFile ? nil : wait)
    guard isKnown else {
      throw ImportError(message: "\(path ?? "standard input"): \(String(cString: strerror(errno)))")
    }
    guard status.st_mode & S_IFMT != S_IFDIR else {
      throw ImportError(message: "\(path ?? "standard input") is a folder: import --all takes a folder")
    }
    size = isFile ? Int64(status.st_size) : nil
    fingerprint =
      spool.map { InputFingerprint(content: $0.fingerprint) }
      ?? (isFile && path != nil ? Self.fingerprint(of: descriptor, status) : nil)
    let name = path.map { $0.split(separator: "/").last.map(String.init) ?? $0 } ?? "stdin"
    let stem = name.hasSuffix(".\(format.rawValue)") ? String(name.dropLast(format.rawValue.count + 1)) : name
    let folder = path.map { $0.dropLast(name.count) } ?? ""
    let ending = format == .json ? "ndjson" : format.rawValue
    usualRejectPath = "\(folder)\(stem).\(isDryRun ? "dry-run." : "")rejects.\(ending)"
    self.rejectPath = rejectPath ?? usualRejectPath
    do {
      reader =
        switch format {
        case .csv: try CSVReader(bytes, separator: UInt8(ascii: ","), null: null)
        case .tsv: try CSVReader(bytes, separator: 9, null: null)
        case .json: try JSONReader(bytes, isArray: true)
        case .ndjson: try JSONReader(bytes, isArray: false)
        }
    } catch let error as InputError {
      throw Self.error(error, path)
    }
  }

  /// The rows of a question to a database, so many.
  init(_ reader: any RecordReader, of path: String, count: Int64, rejectPath: String) {
    (self.reader, self.path, size, self.rejectPath) = (reader, path, count, rejectPath)
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

  private static func format(_ path: String) -> Format? {
    let ending = path.split(separator: ".").last.map { $0.lowercased() } ?? ""
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
    switch format {
    case .csv: .csv(separator: UInt8(ascii: ","), null: null)
    case .tsv: .csv(separator: 9, null: null)
    case .json, .ndjson: .json
    }
  }
}
