#if Logging
  public import Logging
  import MoonbasePlatform

  // With the package trait Logging only: docs/guide.md, "Logs and figures".

  extension ContainerDescription {
    /// Hands a logger what extensions log in contexts of Swift code, and what fails where no caller gets an error: a
    /// reload by a watch, and a context that could not take over what was reloaded.
    ///
    /// ```swift
    /// description.setLogger(Logger(label: "people"))
    /// ```
    public mutating func setLogger(_ logger: Logger) { log = { logger.log($0) } }
  }

  extension Logger {
    /// Logs what a script logged, with its level and its values by name.
    public func log(_ entry: ScriptLogEntry) {
      log(
        level: Level(entry.level), "\(entry.message)", metadata: entry.metadata.mapValues { MetadataValue($0) },
        source: "moonbase")
    }
  }

  extension Logger.Level {
    fileprivate init(_ level: ScriptLogEntry.Level) {
      self =
        switch level {
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
  }

  /// Metadata of a logger has a type of this name too.
  private typealias GraphValue = Value

  extension Logger.MetadataValue {
    fileprivate init(_ value: GraphValue) {
      self =
        switch value {
        case .string(let text): .string(text)
        case .list(let list): .array(list.map { Self($0) })
        case .map(let map): .dictionary(Dictionary(map.map { ($0.key, Self($0.value)) }) { $1 })
        default: .string("\(value)")
        }
    }
  }
#endif
