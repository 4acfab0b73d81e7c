import MoonbaseCZlib
package import MoonbaseModel
package import MoonbasePlatform

/// Raw DEFLATE, as a store's model cache uses it.
///
/// RFC 1951 without a header or a checksum. Both functions work on data in memory and may be called
/// from any thread.
package enum Deflate {
  /// Enough for any model, and a limit for hostile files.
  package static let defaultLimit = 64 << 20
  /// The window of zlib for raw data: 15 bits, negative for no header.
  private static let rawWindow: Int32 = -15
  /// The size of the output buffer, in bytes.
  private static let chunk = 64 << 10

  /// Inflates raw DEFLATE data. Throws `.malformedFile` if it is damaged or exceeds `limit` bytes.
  package static func inflate(_ data: Data, limit: Int = defaultLimit) throws(ModelError) -> Data {
    var stream = z_stream()
    guard inflateInit2_(&stream, rawWindow, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw ModelError(.malformedFile, message: "zlib cannot begin to inflate")
    }
    defer { inflateEnd(&stream) }
    var input = [UInt8](data)
    var output = Data()
    var buffer = [UInt8](repeating: 0, count: chunk)
    let failure = input.withUnsafeMutableBufferPointer { source -> String? in
      stream.next_in = source.baseAddress
      stream.avail_in = UInt32(clamping: source.count)
      while true {
        let (status, count) = step(&stream, buffer: &buffer) { MoonbaseCZlib.inflate(&$0, Z_NO_FLUSH) }
        output.append(contentsOf: buffer[..<count])
        if output.count > limit { return "it unfolds into more than \(limit) bytes" }
        if status == Z_STREAM_END { return nil }
        if status != Z_OK || count == 0 { return "it is cut off or no DEFLATE stream" }
      }
    }
    if let failure { throw ModelError(.malformedFile, message: "the compressed data is damaged: \(failure)") }
    return output
  }

  /// Deflates data.
  ///
  /// Throws `.malformedFile` for more than 4 GiB.
  package static func deflate(_ data: Data) throws(ModelError) -> Data {
    var stream = z_stream()
    let status = deflateInit2_(
      &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, rawWindow, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK, data.count <= Int(UInt32.max) else {
      throw ModelError(.malformedFile, message: "zlib cannot deflate \(data.count) bytes")
    }
    defer { deflateEnd(&stream) }
    var input = [UInt8](data)
    var output = Data()
    var buffer = [UInt8](repeating: 0, count: chunk)
    input.withUnsafeMutableBufferPointer { source in
      stream.next_in = source.baseAddress
      stream.avail_in = UInt32(source.count)
      while true {
        let (status, count) = step(&stream, buffer: &buffer) { MoonbaseCZlib.deflate(&$0, Z_FINISH) }
        output.append(contentsOf: buffer[..<count])
        if status != Z_OK { return }
      }
    }
    return output
  }

  /// Runs a step into the buffer and returns the number of bytes written.
  private static func step(
    _ stream: inout z_stream, buffer: inout [UInt8], _ body: (inout z_stream) -> Int32
  ) -> (status: Int32, count: Int) {
    buffer.withUnsafeMutableBufferPointer { target in
      stream.next_out = target.baseAddress
      stream.avail_out = UInt32(target.count)
      let status = body(&stream)
      return (status, target.count - Int(stream.avail_out))
    }
  }
}
