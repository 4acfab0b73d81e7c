import ArgumentParser

/// An option that says which store a command works on, and how: its name, its words of help and its meaning, for the argument parser and
/// for `moonbase run`, which reads its command line by hand.
struct StoreOption: Sendable {
  /// With its dashes.
  let name: String
  /// What stands behind it; nil for a flag.
  let argument: String?
  var isRepeatable = false
  let help: String
  let take: @Sendable (String, inout StoreSettings) throws(UsageError) -> Void

  static let all = [store, readOnly, allowsCloudKit, keepsHistory, busyTimeout, synchronous, model, modules]

  static let store = StoreOption(
    name: "--store", argument: "[CONFIG=]PATH", isRepeatable: true,
    help: """
      the SQLite store; repeatable, with the model's configuration that each store holds; a new file with '=' in its name \
      is written as ./a=b.sqlite
      """
  ) { value, settings throws(UsageError) in try settings.add(store: value) }

  static let model = StoreOption(
    name: "--model", argument: "PATH", help: "the model (default: the one that the store keeps)"
  ) { value, settings in settings.model = value }

  static let modules = StoreOption(
    name: "--extension", argument: "PATH", isRepeatable: true,
    help: "load an extension; repeatable, dependencies in any order"
  ) { value, settings in settings.extensions.append(value) }

  static let readOnly = StoreOption(name: "--read-only", argument: nil, help: "change nothing in the store") {
    _, settings in settings.readOnly = true
  }

  static let allowsCloudKit = StoreOption(
    name: "--allow-cloudkit", argument: nil, help: "write a store that CloudKit mirrors, which will not hear of it"
  ) { _, settings in settings.allowsCloudKit = true }

  /// For what writes objects: a store that is only read gets no tables.
  static let keepsHistory = StoreOption(
    name: "--keep-history", argument: nil, help: "keep a history of what is saved, in a store that has none so far"
  ) { _, settings in settings.keepsHistory = true }

  static let busyTimeout = StoreOption(
    name: "--busy-timeout", argument: "SECONDS",
    help: "how long to wait for other processes that use the store (default: 5)"
  ) { value, settings throws(UsageError) in settings.busyTimeout = try milliseconds(value) }

  /// For what writes objects.
  static let synchronous = StoreOption(
    name: "--synchronous", argument: "normal|full",
    help: "full: each save is on the disk before it is done; normal: a loss of power may take the last ones (default)"
  ) { value, settings throws(UsageError) in
    guard ["normal", "full"].contains(value) else {
      throw UsageError("--synchronous takes 'normal' or 'full', not '\(value)'")
    }
    settings.synchronizesFully = value == "full"
  }

  static func milliseconds(_ value: String) throws(UsageError) -> Int {
    guard let seconds = Double(value), (0...86_400).contains(seconds) else {
      throw UsageError("--busy-timeout takes a number of seconds from 0 to 86400, not '\(value)'")
    }
    return Int(seconds * 1000)
  }
}

// MARK: - For the argument parser

extension StoreOption {
  var parserName: NameSpecification { .customLong(String(name.dropFirst(2))) }

  var parserHelp: ArgumentHelp {
    ArgumentHelp("\(help.prefix(1).uppercased())\(help.dropFirst()).", valueName: argument)
  }
}

// MARK: - For a help text that is written by hand

extension StoreOption {
  /// The lines of help, with room for the longest option before the words.
  func helpLines(indent: Int = 28, width: Int = 118) -> String {
    let head = "  \(name)\(argument.map { " \($0)" } ?? "")"
    var lines = [head + String(repeating: " ", count: max(1, indent - head.count))]
    for word in help.split(separator: " ") {
      let isFirst = lines[lines.count - 1].hasSuffix(" ")
      if lines[lines.count - 1].count + word.count + 1 > width {
        lines.append(String(repeating: " ", count: indent) + word)
      } else {
        lines[lines.count - 1] += (isFirst ? "" : " ") + word
      }
    }
    return lines.joined(separator: "\n")
  }
}
