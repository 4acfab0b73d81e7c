import MoonbasePageFiles
import MoonbasePlatform

/// A file of the folder `page`. The files are compiled into the command.
///
/// A C array contains the bytes, so that the command needs no resource folder.
struct PageFile {
  /// The name of the file, such as `page.js`.
  let name: String
  /// The contents of the file.
  let data: Data

  /// All files of the page.
  static let all = (0..<mbp_file_count()).map { PageFile(mbp_file_at($0).pointee) }

  /// The file for a path, or nil if there is none.
  ///
  /// - Parameter name: The path without its slash.
  static func named(_ name: String) -> PageFile? { all.first { $0.name == name } }

  /// Copies the name and the bytes of a compiled file.
  ///
  /// - Parameter file: An entry of the table in C.
  private init(_ file: MBPFile) {
    name = String(cString: file.name)
    data = Data(bytes: file.bytes, count: file.length)
  }

  /// The media types by suffix.
  private static let types = [
    "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
  ]

  /// The response with the file and its media type.
  var response: HTTPResponse {
    let ending = name.split(separator: ".").last.map(String.init) ?? ""
    return HTTPResponse(status: 200, type: Self.types[ending] ?? "application/octet-stream", body: data)
  }
}
