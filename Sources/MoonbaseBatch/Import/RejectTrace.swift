import MoonbasePlatform

/// By what the file of rejected rows of an import that was ended is known again: its length when rows were saved last
/// and a digest of what stands before that place, or, before any were saved, its number in the file system.
struct RejectTrace: Equatable {
  var length: Int64 = 0
  var digest: String?
  var number: UInt64?

  /// Whether an open file is the one. The ledger may name any file of the user: without a digest
  /// none is.
  func matches(_ descriptor: Int32) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0, FileIdentity.kind(status.st_mode) == nil, Int64(status.st_size) >= length,
      let digest
    else { return false }
    return digest == InputFingerprint.digest(of: descriptor, before: length)
  }

  /// Whether the file at a path is the one. A link is not followed.
  func matches(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return matches(descriptor)
  }
}
