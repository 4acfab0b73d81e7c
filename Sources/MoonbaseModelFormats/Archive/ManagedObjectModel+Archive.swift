public import MoonbaseModel
public import MoonbasePlatform

extension ManagedObjectModel {
  /// Reads a compiled model: the binary property list of a keyed archive. Throws `ModelError`.
  public init(archive: Data) throws(ModelError) { self = try ArchivedModelReader.read(archive) }

  /// Reads the model that a store keeps in its table `Z_MODELCACHE`: a compressed archive. Throws `ModelError`.
  public init(modelCache: Data) throws(ModelError) {
    self = try ArchivedModelReader.read(try Deflate.inflate(modelCache))
  }
}

extension ResolvedModel {
  /// The model as Core Data archives it: the contents of a `.mom` file.
  ///
  /// What Core Data's archive has no place for stands under keys that begin with `Moonbase`, which a framework passes over.
  /// Throws `ModelError` with `.unsupportedForm` where a predicate holds what no archive can.
  public func archive() throws(ModelError) -> Data { try ArchivedModelWriter.write(self, isComplete: true) }

  /// The archive with Core Data's keys alone, compressed: the contents of a store's table `Z_MODELCACHE`, from which the store
  /// opens without a model.
  ///
  /// What extensions add is none of the model: it is theirs, and gone where they are not loaded.
  public func modelCache() throws(ModelError) -> Data { try modelCaches().plain }

  /// The model cache, and another one with all that the model says, where Core Data's keys do not say it all.
  package func modelCaches() throws(ModelError) -> (plain: Data, complete: Data?) {
    let plain = try ArchivedModelWriter.write(self, isComplete: false)
    let complete = try ArchivedModelWriter.write(self, isComplete: true)
    try requireReadable(complete)
    return (try Deflate.deflate(plain), complete == plain ? nil : try Deflate.deflate(complete))
  }

  /// An archive of fewer bytes has no more values than are read.
  private static let readableSize = 1_000_000

  /// Throws for an archive that is too large to be read: no store with it would open.
  private func requireReadable(_ archive: Data) throws(ModelError) {
    guard archive.count > Self.readableSize else { return }
    do { _ = try PropertyList(binary: archive) } catch {
      guard error.code == .malformedFile else { throw error }
      let count = entities.reduce(0) { $0 + $1.description.attributes.count }
      throw ModelError(
        .unsupportedForm,
        message:
          "the model is too large for a store, which keeps it: it has \(count) attributes in \(entities.count) entities, "
          + "which are more values than are read again; divide it into several models")
    }
  }
}
