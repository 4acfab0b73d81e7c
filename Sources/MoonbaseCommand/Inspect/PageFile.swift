import MoonbasePageFiles
import MoonbasePlatform

/// A file of the folder `page`, compiled in.
struct PageFile {
  let name: String
  let data: Data

  static var all: [PageFile] {
    (0..<mbp_file_count()).map { index in PageFile(mbp_file_at(index).pointee) }
  }

  /// The file of a name. Any other path gives nil.
  static func named(_ name: String) -> PageFile? {
    name.contains("\0") ? nil : mbp_file_named(name).map { PageFile($0.pointee) }
  }

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
