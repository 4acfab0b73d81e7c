import Moonbase
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

#if os(Linux)
  /// The number of connections to a file is limited, however many threads read.
  @Suite struct ReaderLimitTests {
    @Test func manyThreadsShareFewConnections() throws {
      let folder = try TemporaryFolder()
      var entity = EntityDescription("Row")
      entity.attributes = [AttributeDescription("n", type: .integer64)]
      var model = ManagedObjectModel()
      model.entities = [entity]
      let url = folder.file("s.sqlite")
      let container = try PersistentContainer(model: model, store: .sqlite(url))
      let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
      for number in Int64(0)..<2000 { try context.insert("Row", values: ["n": .int(number)]) }
      try context.save()
      let results = Lock([Int]())
      let threads = (0..<60).map { _ in
        Thread {
          let count = try? ManagedObjectContext(container.coordinator, extensions: container.extensions)
            .count(FetchRequest("Row", where: "n > 5 AND n < 1500"))
          results.withLock { $0.append(count ?? -1) }
        }
      }
      threads.forEach { $0.start() }
      var most = 0
      while results.withLock({ $0.count }) < threads.count {
        most = max(most, Self.descriptors(of: url))
        usleep(500)
      }
      #expect(Set(results.withLock { $0 }).count == 1 && results.withLock { $0[0] } > 0)
      // Eight readers and one writer; each connection has the file and its log open, and all share the log's index.
      #expect(most <= 30, "\(most)")
      #expect(Self.descriptors(of: url) <= 20)
    }

    private static func descriptors(of url: URL) -> Int {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
      return names.count { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"))?.contains(
          url.lastPathComponent) == true
          && (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"))?.contains(
            url.deletingLastPathComponent().lastPathComponent) == true
      }
    }
  }
#endif
