import MoonbasePlatform

/// The trace of a reject file of an ended import: its length at the last save with a digest of the bytes before, or its
/// file number if nothing was saved.
///
/// The ledger keeps the trace. A file that does not match it is never written to.
struct RejectTrace: Equatable {
  /// The length of the file at the last save, in bytes.
  var length: Int64 = 0
  /// The digest of the last bytes before `length`.
  var digest: String?
  /// The inode of the file.
  var number: UInt64?

  /// Whether an open file is this one. Without a digest no file matches, because the ledger may name any file of the
  /// user.
  func matches(_ descriptor: Int32) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0, FileIdentity.kind(status.st_mode) == nil, Int64(status.st_size) >= length,
      let digest
    else { return false }
    return digest == InputFingerprint.digest(of: descriptor, before: length)
  }

  /// Whether the file at a path is this one. Links are not followed.
  func matches(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return matches(descriptor)
  }
}
