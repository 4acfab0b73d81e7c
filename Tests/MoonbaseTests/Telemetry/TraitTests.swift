// Built with the package's traits only: swift test --traits Logging,Metrics --scratch-path .build-traits --filter TraitTests
#if Logging && Metrics
  import Logging
  import Metrics
  import Moonbase
  import MoonbasePlatform
  import Testing

  /// Logs and figures that go to swift-log and swift-metrics.
  @Suite struct TraitTests {
    private final class Lines: LogHandler, @unchecked Sendable {  // `lines` is reached under its lock
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
  }
#endif
