import MoonbasePageFiles
import MoonbasePlatform

/// A file of the folder `page`. The files are compiled into the command.
struct PageFile {
  let name: String
  let data: Data

  static let all = (0..<mbp_file_count()).map { PageFile(mbp_file_at($0).pointee) }

  /// The file for a path, or nil if there is none.
  static func named(_ name: String) -> PageFile? { all.first { $0.name == name } }

  private init(_ file: MBPFile) {
    name = String(cString: file.name)
    data = Data(bytes: file.bytes, count: file.length)
  }

  private static let types = [
    "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
  ]

  var response: HTTPResponse {
    let ending = name.split(separator: ".").last.map(String.init) ?? ""
    return HTTPResponse(status: 200, type: Self.types[ending] ?? "application/octet-stream", body: data)
  }
}
