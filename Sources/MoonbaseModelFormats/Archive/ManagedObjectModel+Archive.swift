public import MoonbaseModel
public import MoonbasePlatform

extension ManagedObjectModel {
  /// Reads a compiled model: a keyed archive as a binary property list. Throws `ModelError`.
  ///
  /// The error is `.malformedFile` for damaged data. Settings that are not understood are listed in
  /// `warnings` of the model.
  public init(archive: Data) throws(ModelError) { self = try ArchivedModelReader.read(archive) }

  /// Reads the model in a store's table `Z_MODELCACHE`: a compressed archive. Throws `ModelError`.
  ///
  /// The data is raw DEFLATE. The error is `.malformedFile` for damaged data.
  public init(modelCache: Data) throws(ModelError) {
    self = try ArchivedModelReader.read(try Deflate.inflate(modelCache))
  }
}

extension ResolvedModel {
  /// The model as Core Data archives it: the contents of a `.mom` file.
  ///
  /// Settings without a place in Core Data's archive are stored under keys that begin with `Moonbase`, which frameworks
  /// ignore. Throws `ModelError` with `.unsupportedForm` for a predicate that no archive can hold.
  public func archive() throws(ModelError) -> Data { try ArchivedModelWriter.write(self, isComplete: true) }

  /// The archive with Core Data's keys only, compressed: the content of a store's table `Z_MODELCACHE`, from which the
  /// store opens without a model.
  ///
  /// Attributes added by extensions are not included, because they exist only while their extension is loaded.
  public func modelCache() throws(ModelError) -> Data { try modelCaches().plain }

  /// The model cache, and a complete version if Core Data's keys cannot hold all settings.
  ///
  /// The complete version is nil if it would equal the plain one. Throws `.unsupportedForm` for a
  /// model that could not be read again.
  package func modelCaches() throws(ModelError) -> (plain: Data, complete: Data?) {
    let plain = try ArchivedModelWriter.write(self, isComplete: false)
    let complete = try ArchivedModelWriter.write(self, isComplete: true)
    try requireReadable(complete)
    return (try Deflate.deflate(plain), complete == plain ? nil : try Deflate.deflate(complete))
  }

  /// The size below which an archive cannot have too many values to be read.
  private static let readableSize = 1_000_000

  /// Throws for an archive that is too large to be read, because no store with it would open.
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
