import MoonbaseModel
import MoonbasePlatform

extension FuzzTarget {
  /// Values in keyed archives, as apps and the default transformer write them.
  static let archive = FuzzTarget(name: "archive", seeds: archiveSeeds, words: archiveWords) { bytes in
    guard let value = try? ValueArchive.value(of: Data(bytes)) else { return }
    // An object of an app's class can be read but not written.
    guard let written = try? ValueArchive.data(of: value) else { return }
    guard let again = try? ValueArchive.value(of: written) else {
      preconditionFailure("an archive of our own cannot be read")
    }
    precondition((try? ValueArchive.data(of: again)) == written, "an archive of our own is not what was written")
  }

  private static let archiveWords = [
    "bplist00", "NSKeyedArchiver", "$objects", "$class", "NS.objects", "NS.keys", "NSArray",
  ]

  private static let archiveSeeds: [[UInt8]] = {
    let values: [Value] = [
      "text", ["a", 1, .null, true, .double(2.5)], ["list": [["x": .date(Date(timeIntervalSinceReferenceDate: 0))]]],
      [.data(Data([1, 2])), .uuid(UUID()), .decimal(1.25), .uri(URL(fileURLWithPath: "/"))],
    ]
    let object: PropertyList = [
      "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": .uid(1)],
      "$objects": ["$null", ["x": .real(1), "next": .uid(3), "$class": .uid(2)], ["$classname": "C"], "end"],
    ]
    return values.compactMap { try? ValueArchive.data(of: $0) }.map(Array.init) + [Array(object.binaryData)]
  }()
}
