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
