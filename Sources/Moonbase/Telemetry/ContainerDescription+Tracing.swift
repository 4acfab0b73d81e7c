#if Tracing
  import MoonbasePlatform
  public import Tracing

  // With the package trait Tracing only: docs/guide.md, "Logs and figures".

  extension ContainerDescription {
    /// Makes a span for each save, fetch, read of faults, statement and call of an extension function.
    ///
    /// The spans go to the bootstrapped tracing system, or to `tracer`. Existing receivers stay. Statements are traced
    /// for the stores in the description at the time of the call.
    ///
    /// | span | attributes |
    /// |---|---|
    /// | `moonbase.save`, `.fetch`, `.count`, `.fault` | `moonbase.entity`, but for saves |
    /// | `moonbase.statement` | `db.system`, `db.statement` (without values), `db.rows` |
    /// | `moonbase.extension` | `moonbase.extension`, `moonbase.function` |
    ///
    /// A span is a child of the calling task's span, also in `perform` and `withContext`. It is made when the operation
    /// has ended, with the times of the operation.
    public mutating func setTracer(_ tracer: any Tracer = InstrumentationSystem.tracer) {
      let spans = Spans(tracer: tracer)
      addMeter(spans)
      addProfile { spans.record($0) }
      addStatementReceiver { spans.record($0) }
    }
  }

  /// A receiver that makes a span for each operation.
  private struct Spans: GraphMeter {
    let tracer: any Tracer

    func record(_ operation: GraphOperation) {
      add("moonbase.\(operation.kind.rawValue)", operation.duration, error: operation.error) { attributes in
        if let entity = operation.entity { attributes["moonbase.entity"] = entity }
      }
    }

    func record(_ entry: SQLLog.Entry) {
      add("moonbase.statement", entry.duration, kind: .client) { attributes in
        attributes["db.system"] = "sqlite"
        attributes["db.statement"] = entry.statement
        attributes["db.rows"] = entry.rowCount
      }
    }

    func record(_ entry: ExtensionProfile.Entry) {
      add("moonbase.extension", entry.cost.duration, hasFailed: entry.cost.errors > 0) { attributes in
        attributes["moonbase.extension"] = entry.source
        attributes["moonbase.function"] = entry.function
      }
    }

    private func add(
      _ name: String, _ duration: Duration, kind: SpanKind = .internal, error: (any Error)? = nil,
      hasFailed: Bool = false, _ describe: (inout SpanAttributes) -> Void
    ) {
      let end = DefaultTracerClock.now
      let length = UInt64(clamping: Int64(min(duration.seconds, 1e9) * 1e9))
      let begin = DefaultTracerClock.Timestamp(
        nanosecondsSinceEpoch: end.nanosecondsSinceEpoch - min(length, end.nanosecondsSinceEpoch))
      let span = tracer.startSpan(name, ofKind: kind, at: begin)
      span.updateAttributes(describe)
      if let error { span.recordError(error) }
      if error != nil || hasFailed { span.setStatus(SpanStatus(code: .error)) }
      span.end(at: end)
    }
  }
#endif
