import MoonbasePlatform

/// The error of writing rejected rows. The input is valid, and rows saved by then stay saved.
///
/// The import ends with it, because rows that cannot be recorded would be lost.
package struct RejectFailure: Error, CustomStringConvertible {
  /// The path of the file of rejected rows.
  let path: String
  /// The error number of the system, as in `errno`.
  let number: Int32

  /// The failure of a path with an error number.
  init(_ path: String, _ number: Int32) { (self.path, self.number) = (path, number) }

  /// The message, with advice on the option `--rejects`.
  package var description: String {
    "the rejected rows cannot be written to \(path): \(String(cString: strerror(number))): \(advice)"
  }

  /// The advice for an error number.
  private var advice: String {
    switch number {
    case ENOENT, ENOTDIR: "make its folder, or name another file with --rejects"
    case ENOSPC, EDQUOT, EFBIG: "make room, or name a file on another disk with --rejects"
    case ELOOP: "a link is not followed: name the file itself with --rejects"
    case EEXIST:
      "it has rows of an earlier import: import or move it, name another file with --rejects, or give --force"
    case EACCES, EPERM, EROFS: "allow it to be written, or name a file in another folder with --rejects"
    default: "name another file with --rejects"
    }
  }

  /// Throws if a path is known to be unwritable.
  ///
  /// The check is made before an import begins. It throws `RejectFailure`, and another error may
  /// still occur when the file is created.
  package static func check(_ path: String) throws {
    let isThere = access(path, F_OK) == 0
    guard FileIdentity.kind(path) != "folder" else { throw RejectFailure(path, EISDIR) }
    let folder = path.folderOfPath
    guard isThere || access(folder, F_OK) != 0 || FileIdentity.kind(folder) == "folder" else {
      throw RejectFailure(path, ENOTDIR)
    }
    guard access(isThere ? path : folder, isThere ? W_OK : W_OK | X_OK) != 0 else { return }
    throw RejectFailure(path, errno)
  }

  /// Throws for a link to a file.
  package static func checkIsNoLink(_ path: String) throws {
    var status = stat()
    if !BoundedFile.isOpened(path), lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK,
      FileIdentity.kind(path) == nil
    {
      throw RejectFailure(path, ELOOP)
    }
  }
}
