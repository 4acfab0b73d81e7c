import MoonbaseGraph
import MoonbasePlatform

/// Large binary values in files beside the store: `.<base>_SUPPORT/_EXTERNAL_DATA/<UUID>`.
///
/// The column holds `01` and the bytes, or `02`, the file's name and `00`.
struct ExternalData: Sendable {
  /// Values of more bytes go to a file. Core Data's own bound is not documented; it lies near this.
  private static let threshold = 100_000
  private static let inline: UInt8 = 1
  private static let file: UInt8 = 2

  private let folder: URL

  init(store file: StoreFile) {
    let url = URL(fileURLWithPath: file.truePath)
    let base = url.deletingPathExtension().lastPathComponent
    folder = url.deletingLastPathComponent().appendingPathComponent(
      ".\(base)_SUPPORT/_EXTERNAL_DATA", isDirectory: true)
  }

  /// The value that a column's bytes stand for.
  func read(_ column: Data) throws -> Data {
    if let name = Self.fileName(column) {
      let url = folder.appendingPathComponent(name)
      do {
        return try Data(contentsOf: url)
      } catch {
        throw GraphError(
          .storeFailure, "\(url.path), where a binary value is kept, cannot be read: restore the file from a backup",
          underlying: error)
      }
    }
    return column.first == Self.inline ? Data(column.dropFirst()) : column
  }

  /// The column's bytes for a value; a new file is noted in `files`.
  func write(_ value: Data, files: inout ExternalFiles) throws -> Data {
    guard value.count > Self.threshold else { return Data([Self.inline]) + value }
    let name = UUID().uuidString
    let url = folder.appendingPathComponent(name)
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      files.created.append(url)
      try value.write(to: url)
    } catch {
      throw GraphError(.storeFailure, "\(url.path), where a binary value belongs, cannot be written", underlying: error)
    }
    return Data([Self.file]) + Data(name.utf8) + Data([0])
  }

  /// Notes the file that a column's bytes name, so that it goes when the transaction has succeeded.
  func forget(_ column: Data, files: inout ExternalFiles) {
    if let name = Self.fileName(column) { files.abandoned.append(folder.appendingPathComponent(name)) }
  }

  /// A name is 36 characters of a UUID; anything else is no name, so that no file can lead out of the folder.
  private static func fileName(_ column: Data) -> String? {
    guard column.count == 38, column.first == file, column.last == 0 else { return nil }
    let name = String(decoding: column.dropFirst().dropLast(), as: UTF8.self)
    return UUID(uuidString: name) == nil ? nil : name
  }
}

/// The files that a transaction made and those it no longer needs.
struct ExternalFiles {
  var created: [URL] = []
  var abandoned: [URL] = []

  /// After the transaction: one kind or the other goes. A file that cannot be removed is an orphan, not an error.
  func settle(committed: Bool) {
    for url in committed ? abandoned : created { try? FileManager.default.removeItem(at: url) }
  }
}
