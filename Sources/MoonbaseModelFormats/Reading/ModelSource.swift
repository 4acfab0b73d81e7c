public import MoonbaseModel
public import MoonbasePlatform

/// A file or folder from which a model is read. Its beginning is read immediately, the rest on demand.
///
/// ```swift
/// let model = try ManagedObjectModel.read(ModelSource(contentsOf: url))
/// ```
public struct ModelSource: Sendable {
  /// The number of bytes in `head`.
  private static let headSize = 4096
  /// The greatest size of a file, in bytes.
  private static let greatestSize = 64 << 20

  /// The place of the bytes.
  private enum Place {
    case file(URL)
    case folder(URL)
    case memory(Data)
  }

  /// The name in messages: the path as given by the caller.
  public let name: String
  /// The first bytes of a file, for recognising the format; empty for a folder.
  public let head: Data
  /// The names of a folder's entries, sorted; nil for a file.
  public let entries: [String]?

  /// The file, the folder or the bytes.
  private let place: Place

  /// Opens a file or folder. Throws `.cannotOpenFile` if it does not exist or is not readable.
  public init(contentsOf url: URL) throws(ModelError) {
    name = url.relativePath
    // An absolute URL keeps its `..`.
    let namesFolder = url.hasDirectoryPath
    let url = URL(fileURLWithPath: url.pathAsGiven)
    do {
      var status = stat()
      guard stat(url.path, &status) == 0 else { throw Absent(reason: errno) }
      if status.st_mode & S_IFMT == S_IFDIR {
        place = .folder(url)
        head = Data()
        entries = try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
      } else {
        // A pipe may never end, and bytes read to recognise it would be lost.
        guard status.st_mode & S_IFMT == S_IFREG else { throw NoFile() }
        guard !namesFolder else { throw Absent(reason: ENOTDIR) }
        place = .file(url)
        entries = nil
        head = Data(try BoundedFile.beginning(of: url.path, count: Self.headSize))
      }
    } catch let absent as Absent {
      throw ModelError(.cannotOpenFile, message: absent.message, at: SourceLocation(file: name))
    } catch {
      throw Self.unreadable(name, error: error)
    }
  }

  /// The system's reason why a path cannot be opened.
  private struct Absent: Error {
    /// The error number, as in `errno`.
    let reason: Int32

    /// The reason in words.
    var message: String {
      switch reason {
      case ENOENT: "there is no such file or folder"
      case ENOTDIR: "there is no such folder: what stands before a slash in the path is a file"
      default: "it cannot be read: \(String(cString: strerror(reason)))"
      }
    }
  }

  /// Treats bytes in memory as a file; `name` is used in messages.
  public init(_ data: Data, name: String) {
    self.name = name
    head = data.prefix(Self.headSize)
    entries = nil
    place = .memory(data)
  }

  /// The bytes of the file. Throws `.cannotOpenFile` for a folder and for files over 64 MiB.
  public func data() throws(ModelError) -> Data { try data(limit: Self.greatestSize) }

  /// The bytes of the file, of which at most `limit` are read.
  ///
  /// Throws `.cannotOpenFile` for a folder, a larger file and an error of the system.
  package func data(limit: Int) throws(ModelError) -> Data {
    switch place {
    case .memory(let data): return data
    case .folder: throw ModelError(.cannotOpenFile, message: "\(name) is a folder", at: SourceLocation(file: name))
    case .file(let url):
      do {
        return Data(try BoundedFile.read(url.path, limit: limit))
      } catch .tooLarge {
        throw ModelError(
          .cannotOpenFile, message: "it is larger than \(limit >> 20) MiB, and no model is",
          at: SourceLocation(file: name))
      } catch {
        throw ModelError(.cannotOpenFile, message: "it cannot be read: \(error.reason)", at: SourceLocation(file: name))
      }
    }
  }

  /// An entry of the folder. The name must be in `entries`, so that no file can refer to the outside.
  ///
  /// Throws `.cannotOpenFile` for a name that is not in the folder.
  public func entry(_ entry: String) throws(ModelError) -> ModelSource {
    guard case .folder(let url) = place, entries?.contains(entry) == true else {
      throw ModelError(.cannotOpenFile, message: "there is no \(entry) in \(name)", at: SourceLocation(file: name))
    }
    return try ModelSource(contentsOf: url.appendingPathComponent(entry), name: "\(name)/\(entry)")
  }

  /// A source whose messages use another name than the path.
  private init(contentsOf url: URL, name: String) throws(ModelError) {
    let source = try ModelSource(contentsOf: url)
    self.name = name
    (head, entries, place) = (source.head, source.entries, source.place)
  }

  /// The failure of a path that is neither a file nor a folder.
  private struct NoFile: Error {
    /// The reason in words.
    var localizedDescription: String { "it is a pipe or a device; a file or folder is expected" }
  }

  /// The error with code `.cannotOpenFile` and the reason.
  private static func unreadable(_ name: String, error: any Error) -> ModelError {
    let reason =
      switch error {
      case let error as NoFile: error.localizedDescription
      case let error as BoundedFile.Failure: "it cannot be read: \(error.reason)"
      default: "it cannot be read: \(error.localizedDescription)"
      }
    return ModelError(.cannotOpenFile, message: reason, at: SourceLocation(file: name))
  }
}

extension ModelSource {
  /// Whether the root element of an XML file has this name.
  ///
  /// The check looks at `head` only, and skips the XML declaration, comments and a document type.
  func beginsWithElement(_ name: String) -> Bool {
    var text = Substring(headText)
    while let open = text.firstIndex(of: "<") {
      text = text[text.index(after: open)...]
      guard let first = text.first, first != "?", first != "!" else { continue }
      return text.hasPrefix(name) && text.dropFirst(name.count).first.map { " />\n\r\t".contains($0) } ?? true
    }
    return false
  }

  /// The beginning of the file as text, decoded as UTF-16 after a byte order mark.
  private var headText: String {
    let isWide = head.starts(with: [0xff, 0xfe]) || head.starts(with: [0xfe, 0xff])
    return isWide
      ? String(data: head.prefix(head.count & ~1), encoding: .utf16) ?? "" : String(decoding: head, as: UTF8.self)
  }
}
