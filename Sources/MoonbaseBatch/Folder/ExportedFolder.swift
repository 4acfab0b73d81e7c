import MoonbaseModel
import MoonbasePlatform

/// A folder made by `moonbase export --all`, opened for reading.
///
/// The value keeps the path and the description; the files are opened when they are read.
/// `StoreImport` is its main user.
package struct ExportedFolder {
  /// The path of the folder, as given by the caller.
  let path: String
  /// The folder's description.
  package let contents: ExportContents

  /// Reads the description. Throws if the folder is incomplete.
  ///
  /// Throws `ImportError` for a folder without a description, a description of another version, and
  /// for files that `ExportContents` refuses.
  package init(_ path: String) throws {
    self.path = path
    let index = "\(path)/\(ExportContents.fileName)"
    guard let data = FileManager.default.contents(atPath: index) else {
      throw ImportError(
        message: "\(path) is no folder that moonbase export --all made: it has no \(ExportContents.fileName)")
    }
    do { contents = try JSONDecoder().decode(ExportContents.self, from: data) } catch {
      throw ImportError(message: "\(index) is not what moonbase export --all writes")
    }
    guard contents.format == ExportContents.format, contents.version == 1 else {
      throw ImportError(message: "\(index) is of version \(contents.version), which this command does not know")
    }
    guard contents.entities.values.allSatisfy({ (0...1 << 40).contains($0.count) }) else {
      throw ImportError(message: "\(index) names a count of objects that no store has")
    }
    guard UUID(literal: contents.store) != nil else {
      throw ImportError(
        message: "\(index): store is '\(TextLimits.beginning(of: contents.store))', which is no UUID of a store")
    }
    try contents.requireFiles(in: path)
    try contents.requireNoOthers(in: path)
  }

  /// Locks the folder against other imports until this process ends. Throws if another import holds the lock.
  ///
  /// The lock is on the description's file. The descriptor stays open on purpose.
  package func claim() throws {
    let descriptor = MoonbasePlatform.open("\(path)/\(ExportContents.fileName)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw ImportError(message: "\(path): \(String(cString: strerror(errno)))") }
    do { try ImportInput.claim(descriptor, of: "folder", path) } catch {
      close(descriptor)
      throw error
    }
  }

  /// The path of the model.
  package var modelPath: String { "\(path)/\(contents.model)" }

  /// The entities with rows, in a fixed order.
  ///
  /// The entities are sorted by name. Throws `ImportError` for an entity that the model lacks.
  func entities(of model: ResolvedModel) throws -> [ResolvedEntity] {
    try contents.entities.keys.sorted().map { name in
      guard let entity = model.entity(name), !entity.isAbstract else {
        throw ImportError(
          message:
            "\(path)/\(ExportContents.fileName) names \(name), which the model of the store has not: give the store the "
            + "model \(path)/\(ExportContents.modelName)")
      }
      return entity
    }
  }

  // MARK: Files

  /// The path of the file with the rows of an entity.
  func path(of entity: ResolvedEntity) -> String { "\(path)/\(contents.entities[entity.name]?.file ?? "")" }

  /// Opens the file of an entity. Links are not followed.
  private func open(_ entity: ResolvedEntity) throws -> Int32 {
    let path = path(of: entity)
    let descriptor = MoonbasePlatform.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw ImportError(message: "\(path): \(String(cString: strerror(errno)))") }
    return descriptor
  }

  /// A reader of an entity's lines from a position on.
  ///
  /// The position and its line come from the ledger of an earlier run.
  func reader(of entity: ResolvedEntity, from offset: Int64 = 0, line: Int64 = 1) throws -> JSONReader {
    let descriptor = try open(entity)
    return try naming(entity) {
      let reader = try JSONReader(InputBytes(descriptor, closes: true), isArray: false)
      if offset > 0 { try reader.skip(to: offset, line: line) }
      return reader
    }
  }

  /// Advances a reader. Its errors name the file and the line.
  func next(_ reader: JSONReader, of entity: ResolvedEntity) throws -> Bool {
    try naming(entity) { try reader.next() }
  }

  /// Runs a body whose input errors name the entity's file.
  private func naming<Result>(_ entity: ResolvedEntity, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as InputError { throw ImportInput.error(error, path(of: entity)) }
  }

  /// A digest of an entity's file, combined with the digest of the previous files.
  ///
  /// A chain of digests identifies all files read so far in one short text.
  func digest(of entity: ResolvedEntity, behind digest: String) throws -> String {
    let descriptor = try open(entity)
    defer { close(descriptor) }
    let content = InputFingerprint.content(of: descriptor, size: Int64(lseek(descriptor, 0, SEEK_END)))
    return SHA2.shortText(Data("\(digest) \(content)".utf8))
  }

  /// A digest of the bytes before a position in an entity's file.
  func digest(of entity: ResolvedEntity, before offset: Int64) throws -> String {
    let descriptor = try open(entity)
    defer { close(descriptor) }
    return InputFingerprint.digest(of: descriptor, before: offset)
  }

  // MARK: Lines

  /// The entity and the key in a URI; nil if the model lacks the entity.
  ///
  /// For example, `x-coredata://STORE/Person/p12` gives the entity `Person` and the key 12.
  static func object(_ uri: String, in model: ResolvedModel) -> (entity: ResolvedEntity, key: Int64)? {
    let parts = uri.split(separator: "/")
    guard parts.count == 4, let key = key(uri), let entity = model.entity(String(parts[2])) else { return nil }
    return (entity, key)
  }

  /// The key in a URI `x-coredata://STORE/Entity/p12`.
  ///
  /// Returns nil if the text has another form or the key is not positive.
  static func key(_ uri: String) -> Int64? {
    guard uri.hasPrefix("x-coredata://"), let place = uri.lastIndex(of: "p"), place > uri.startIndex,
      uri[uri.index(before: place)] == "/"
    else { return nil }
    return Int64(uri[uri.index(after: place)...]).flatMap { $0 > 0 ? $0 : nil }
  }
}

extension JSONReader {
  /// The column with a name; nil if no line has had the name yet.
  func column(named name: String) -> Int? { names.firstIndex(of: name) }

  /// The object's URI.
  var id: String? { column(named: "_id").flatMap { field($0).kind == .text ? field($0).text : nil } }
}
