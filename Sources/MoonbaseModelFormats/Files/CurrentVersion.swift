import MoonbaseModel
import MoonbasePlatform

/// The file in a folder of versions that names the current version.
///
/// Xcode writes an XML property list beside the versions; its compiler writes a binary one that
/// also has the version hashes.
enum CurrentVersion {
  /// The name of Xcode's file.
  static let xcodeName = ".xccurrentversion"
  /// The key of the current version in Xcode's file.
  static let xcodeKey = "_XCCurrentVersionName"
  /// The name of the compiler's file.
  static let compiledName = "VersionInfo.plist"
  /// The key of the current version in the compiler's file.
  static let compiledKey = "NSManagedObjectModel_CurrentVersionName"

  /// The file of an `.xcdatamodeld`.
  ///
  /// `name` is the current version, without a suffix.
  static func xcodeList(_ name: String) -> Data {
    Data(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      <dict>
      \t<key>\(xcodeKey)</key>
      \t<string>\("\(name).xcdatamodel".markupText)</string>
      </dict>
      </plist>

      """.utf8)
  }

  /// The file of a `.momd`, with the hashes and the checksum of each version as Apple's compiler writes them.
  ///
  /// `name` is the current version; `versions` are all versions with their hashes.
  static func compiledList(_ name: String, of versions: [(name: String, version: ModelVersion)]) -> Data {
    let hashes = versions.map { ($0.name, PropertyList.dictionary($0.version.hashes.mapValues(PropertyList.data))) }
    let checksums = versions.map { ($0.name, PropertyList.string($0.version.checksum)) }
    return PropertyList.dictionary([
      compiledKey: .string(name),
      "NSManagedObjectModel_VersionHashes": .dictionary(Dictionary(hashes) { first, _ in first }),
      "NSManagedObjectModel_VersionChecksums": .dictionary(Dictionary(checksums) { first, _ in first }),
    ]).binaryData
  }
}
