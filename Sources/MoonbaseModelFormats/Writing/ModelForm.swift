/// A format for writing a model, named by the suffix of its file or folder.
///
/// The command `moonbase model convert` finds the format by the destination's name. `WrittenModel`
/// writes it.
package enum ModelForm: String, CaseIterable, Sendable {
  /// A Lua model file.
  case lua
  /// An Xcode folder with a `contents` file.
  case xcdatamodel
  /// An Xcode folder with all versions.
  case xcdatamodeld
  /// A compiled model.
  case mom
  /// A folder with all versions, compiled.
  case momd
  /// The `contents` file alone.
  case xml

  /// The format for a file name; nil for an unknown suffix.
  ///
  /// For example, `Shop.xcdatamodeld` or `models/Shop.mom`. A file named `contents` has the format
  /// `xml`.
  package init?(path: String) {
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    if name == Self.contentsName { self = .xml } else { self.init(rawValue: name.suffixWord) }
  }

  /// The name of the file in an `.xcdatamodel`.
  package static let contentsName = "contents"

  /// Whether the format is a folder.
  package var isFolder: Bool { [.xcdatamodel, .xcdatamodeld, .momd].contains(self) }

  /// Whether the format holds several versions.
  package var holdsVersions: Bool { self == .xcdatamodeld || self == .momd }

  /// The format of each version in it.
  var formOfVersion: ModelForm {
    switch self {
    case .xcdatamodeld: .xcdatamodel
    case .momd: .mom
    default: self
    }
  }

  /// Whether a name in the folder belongs to the format.
  ///
  /// A folder with other names is not overwritten.
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
  /// The text after the last dot of a name.
  fileprivate var suffixWord: String {
    lastIndex(of: ".").map { String(self[index(after: $0)...]) } ?? ""
  }
}
