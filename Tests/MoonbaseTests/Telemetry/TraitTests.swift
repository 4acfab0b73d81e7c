// Built only with the package's traits: swift test --traits Command,Observability,ServiceLifecycle --scratch-path
// .build-traits --filter TraitTests
#if Logging && Metrics && Tracing && ServiceLifecycle
  import InMemoryTracing
  import Logging
  import Metrics
  import Moonbase
  import MoonbasePlatform
  import MoonbaseTestSupport
  import ServiceLifecycle
  import Testing
  import Tracing

  /// Logs, metrics and spans for swift-log, swift-metrics and swift-distributed-tracing, and a container as a service.
  @Suite struct TraitTests {
    private final class Lines: LogHandler, @unchecked Sendable {  // `lines` is used under its lock
      let lines = Lock<[String]>([])
      var metadata: Logger.Metadata = [:]
      var logLevel = Logger.Level.trace

      subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
      }

      func log(event: LogEvent) {
        let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        lines.withLock { $0.append("\(event.level) \(event.message) \(fields.joined(separator: " "))") }
      }
    }

    private final class Figures: MetricsFactory, CounterHandler, TimerHandler, RecorderHandler, @unchecked Sendable {
      let names = Lock<[String: Int]>([:])
      private let name: String
      private let parent: Figures?

      init(_ name: String = "", parent: Figures? = nil) { (self.name, self.parent) = (name, parent) }

      private func add(_ count: Int) { (parent ?? self).names.withLock { $0[name, default: 0] += count } }
      private func made(_ label: String, _ dimensions: [(String, String)]) -> Figures {
        Figures(([label] + dimensions.map { "\($0)=\($1)" }).joined(separator: " "), parent: self)
      }

      func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { made(label, dimensions) }
      func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        made(label, dimensions)
      }
      func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { made(label, dimensions) }
      func destroyCounter(_ handler: any CounterHandler) {}
      func destroyRecorder(_ handler: any RecorderHandler) {}
      func destroyTimer(_ handler: any TimerHandler) {}
      func increment(by count: Int64) { add(Int(count)) }
      func reset() {}
      func record(_ value: Int64) { add(1) }
      func record(_ value: Double) { add(1) }
      func recordNanoseconds(_ duration: Int64) { add(1) }
    }

    @Test func logsAndFiguresGoToTheSystemsOfTheProgram() throws {
      let (lines, figures) = (Lines(), Figures())
      var description = ContainerDescription(
        model: .value(TelemetryTests.model), extensions: [.text(TelemetryTests.extensionText, name: "names.lua")])
      description.setLogger(Logger(label: "people") { _ in lines })
      description.setMetrics(factory: figures)
      let container = try PersistentContainer(description)
      let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
      let person = try context.insert("Person", values: ["name": "a"])
      try context.save()
      try person.setValue("bad", forKey: "name")
      #expect(throws: GraphError.self) { try context.save() }
      _ = try context.fetch(FetchRequest("Person"))
      #expect(
        lines.lines.withLock { $0.first } == "warning normalized list=[\"1\", \"b\"] map=[\"a\": \"true\"] name=a")
      let told = figures.names.withLock { $0 }
      #expect(told["moonbase.save.duration"] == 2 && told["moonbase.save.errors"] == 1, "\(told)")
      #expect(told["moonbase.fetch.duration entity=Person"] == 1, "\(told)")
      let normalize = "extension=names.lua function=Person.normalize.name"
      #expect(told["moonbase.extension.duration \(normalize)"] == 2, "\(told)")
      #expect(told["moonbase.extension.errors \(normalize)"] == 1, "\(told)")
    }

    @Test func operationsAreLoggedWithTheirTimes() throws {
      let folder = try TemporaryFolder()
      let (lines, figures) = (Lines(), Figures())
      var description = ContainerDescription(
        model: .value(TelemetryTests.model), stores: [.sqlite(folder.file())],
        extensions: [.text(TelemetryTests.extensionText, name: "names.lua")])
      description.setLogger(Logger(label: "people") { _ in lines }, operations: true)
      description.setMetrics(factory: figures)
      let container = try PersistentContainer(description)
      let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
      try context.insert("Person", values: ["name": "secret"])
      try context.save()
      let other = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
      container.coordinator.meter?.record(GraphOperation(kind: .count, duration: .seconds(1)))
      _ = try other.fetch(FetchRequest("Person"))
      let told = lines.lines.withLock { $0 }
      for start in [
        "debug save duration=", "trace INSERT OR ABORT INTO ZPERSON", "trace Person.validate.name duration=",
        "debug fetch duration=",
      ] {
        #expect(told.contains { $0.hasPrefix(start) }, "\(start) in \(told)")
      }
      #expect(!told.contains { $0.hasPrefix("trace INSERT") && $0.contains("secret") })
      let named = figures.names.withLock { $0 }
      #expect(
        named["moonbase.statement.duration verb=INSERT"] ?? 0 > 0 && named["moonbase.count.duration"] == 1, "\(named)")
    }

    @Test func spansBelongToTheSpanOfTheTask() async throws {
      let folder = try TemporaryFolder()
      let tracer = InMemoryTracer()
      var description = ContainerDescription(
        model: .value(TelemetryTests.model), stores: [.sqlite(folder.file())],
        extensions: [.text(TelemetryTests.extensionText, name: "names.lua")])
      description.setTracer(tracer)
      let container = try PersistentContainer(description)
      try await tracer.withSpan("request") { _ in
        try await container.withContext { context in
          try context.insert("Person", values: ["name": "a"])
          try context.save()
        }
      }
      await #expect(throws: GraphError.self) {
        try await container.withContext { context in
          try context.insert("Person", values: ["name": "nobody"])
          try context.save()
        }
      }
      let spans = tracer.finishedSpans
      let request = try #require(spans.first { $0.operationName == "request" })
      let saves = spans.filter { $0.operationName == "moonbase.save" }
      #expect(saves.count == 2 && saves[0].traceID == request.traceID && saves[1].traceID != request.traceID)
      #expect(saves[0].errors.isEmpty && !saves[1].errors.isEmpty)
      let statements = spans.filter { $0.operationName == "moonbase.statement" && $0.traceID == request.traceID }
      #expect(!statements.isEmpty)
      #expect(spans.contains { $0.operationName == "moonbase.extension" && $0.traceID == request.traceID })
    }

    @Test func aContainerIsAServiceThatClosesAtAShutdown() async throws {
      let container = try PersistentContainer(model: TelemetryTests.model, store: .inMemory)
      let group = ServiceGroup(
        services: [container], gracefulShutdownSignals: [], logger: Logger(label: "tests") { _ in Lines() })
      let run = Task { try await group.run() }
      #expect(try await container.withContext { try $0.count(FetchRequest("Person")) } == 0)
      await group.triggerGracefulShutdown()
      try await run.value
      await #expect(throws: GraphError.self) { try await container.withContext { _ in } }
    }
  }
#endif
