#if Logging
  public import Logging
  import MoonbasePlatform

  // With the package trait Logging only: docs/guide.md, "Logs and figures".

  extension ContainerDescription {
    /// Sends the log entries of extensions in contexts of Swift code to a logger, and failures that no caller receives:
    /// of a watch's reload, and of a context that could not adopt a reload.
    ///
    /// ```swift
    /// description.setLogger(Logger(label: "people"))
    /// ```
    ///
    /// With `operations`, the logger also receives the container's operations: saves, fetches and reads of faults at
    /// the level `debug`, calls of extension functions and statements at the level `trace`, without values. Statements
    /// are logged for the stores in the description at the time of the call.
    public mutating func setLogger(_ logger: Logger, operations: Bool = false) {
      log = { logger.log($0) }
      guard operations else { return }
      addMeter(OperationLog(logger: logger))
      addProfile { entry in
        logger.trace(
          "\(entry.function)",
          metadata: ["extension": "\(entry.source)", "duration": "\(entry.cost.duration)"], source: "moonbase")
      }
      addStatementReceiver { entry in
        logger.trace(
          "\(entry.statement)", metadata: ["rows": "\(entry.rowCount)", "duration": "\(entry.duration)"],
          source: "moonbase")
      }
    }
  }

  /// A receiver that logs each operation of the container.
  private struct OperationLog: GraphMeter {
    let logger: Logger

    func record(_ operation: GraphOperation) {
      var metadata: Logger.Metadata = ["duration": "\(operation.duration)"]
      if let entity = operation.entity { metadata["entity"] = "\(entity)" }
      if let error = operation.error { metadata["error"] = "\(error)" }
      logger.debug("\(operation.kind.rawValue)", metadata: metadata, source: "moonbase")
    }
  }

  extension Logger {
    /// Logs a script's log entry, with its level and its named values.
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
