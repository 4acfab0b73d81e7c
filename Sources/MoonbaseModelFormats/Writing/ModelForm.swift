/// A form in which a model is written, by the suffix of its file or folder.
package enum ModelForm: String, CaseIterable, Sendable {
  /// A Lua model file.
  case lua
  /// A folder of Xcode's with one `contents` file.
  case xcdatamodel
  /// A folder of Xcode's with all versions.
  case xcdatamodeld
  /// A compiled model.
  case mom
  /// A folder with all versions, compiled.
  case momd
  /// The `contents` file alone.
  case xml

  /// The form of a file's name; nil for a suffix that no form has.
  package init?(path: String) {
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    if name == Self.contentsName { self = .xml } else { self.init(rawValue: name.suffixWord) }
  }

  /// The name of the file in an `.xcdatamodel`.
  package static let contentsName = "contents"

  /// Whether it is a folder.
  package var isFolder: Bool { [.xcdatamodel, .xcdatamodeld, .momd].contains(self) }

  /// Whether it holds more than one version.
  package var holdsVersions: Bool { self == .xcdatamodeld || self == .momd }

  /// The form of each version in it.
  var formOfVersion: ModelForm {
    switch self {
    case .xcdatamodeld: .xcdatamodel
    case .momd: .mom
    default: self
    }
  }

  /// Whether a name inside of such a folder is that of a part of it.
  package func hasPart(_ name: String) -> Bool {
    switch self {
    case .xcdatamodel: [Self.contentsName, "elements", "layout"].contains(name)
    case .xcdatamodeld: name == CurrentVersion.xcodeName || name.hasSuffix(".xcdatamodel")
    case .momd: name == CurrentVersion.compiledName || name.hasSuffix(".mom") || name.hasSuffix(".omo")
    case .lua, .mom, .xml: false
    }
  }
}

extension String {
  /// The text behind the last point of a name.
  fileprivate var suffixWord: String {
    lastIndex(of: ".").map { String(self[index(after: $0)...]) } ?? ""
  }
}
