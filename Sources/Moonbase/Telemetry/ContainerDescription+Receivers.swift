// Combination of several receivers of telemetry.

extension ContainerDescription {
  /// Adds a receiver of saves, fetches and faults beside the existing ones.
  mutating func addMeter(_ new: any GraphMeter) { meter = meter.map { MeterPair(first: $0, second: new) } ?? new }

  /// Adds a receiver of calls of extension functions.
  mutating func addProfile(_ new: @escaping @Sendable (ExtensionProfile.Entry) -> Void) {
    profile =
      profile.map { former in
        ExtensionProfile { entry in
          former.record(entry)
          new(entry)
        }
      } ?? ExtensionProfile(new)
  }

  /// Adds a receiver of the statements of the description's stores in files.
  mutating func addStatementReceiver(_ new: @escaping @Sendable (SQLLog.Entry) -> Void) {
    for index in stores.indices where !stores[index].isInMemory {
      let former = stores[index].sqlLog
      stores[index].sqlLog = SQLLog(former?.level ?? .statements) { entry in
        former?.write(entry)
        new(entry)
      }
    }
  }
}

/// Passes each operation to two receivers.
private struct MeterPair: GraphMeter {
  let first: any GraphMeter
  let second: any GraphMeter

  func record(_ operation: GraphOperation) {
    first.record(operation)
    second.record(operation)
  }
}
