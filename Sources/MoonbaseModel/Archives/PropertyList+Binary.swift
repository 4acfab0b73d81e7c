package import MoonbasePlatform

extension PropertyList {
  /// Reads a binary property list.
  ///
  /// Offsets, counts, nesting and the number of values are checked before use, because the bytes may be hostile. Throws
  /// `ModelError` with `.malformedFile`.
  public init(binary data: Data) throws(ModelError) {
    self = try BinaryPropertyListReader.read([UInt8](data))
  }

  /// The binary form. Keys are sorted by name, so equal values give equal bytes.
  ///
  /// The writer is deterministic, so results can be compared byte by byte.
  public var binaryData: Data {
    var writer = BinaryPropertyListWriter()
    return writer.write(self)
  }

  /// Whether the bytes begin with the signature of a binary property list.
  package static func isBinary(_ data: Data) -> Bool { data.starts(with: "bplist0".utf8) }
}
