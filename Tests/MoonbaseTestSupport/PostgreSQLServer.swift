#if PostgreSQL
  public import MoonbasePlatform
  import MoonbasePostgreSQLStore

  /// A PostgreSQL server for the tests of a process. The first test that needs the server starts it, on a loopback port
  /// and a socket of its own. The server ends with the process, however the process ends.
  public final class PostgreSQLServer: Sendable {
    /// The server of this process, or the error why there is none.
    public static let shared = Result { try PostgreSQLServer() }

    /// The folder of the socket.
    public let folder: String
    /// The port.
    public let port: Int

    private init() throws {
      port = try Self.freePort()
      folder = FileManager.default.temporaryDirectory.path + "/moonbase-postgresql-\(getpid())"
      let script = Self.script.replacing("%f", with: folder).replacing("%p", with: "\(port)")
        .replacing("%w", with: "\(getpid())")
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = ["-c", script]
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      let end = Date(timeIntervalSinceNow: 60)
      while true {
        if access("\(folder)/ready", F_OK) == 0 { return }
        guard process.isRunning, Date() < end else {
          let log = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "scripts/setup installs it"
          throw NoServer(reason: "PostgreSQL did not start: \(log.suffix(2000))")
        }
        usleep(20_000)
      }
    }

    /// The reason why there is no server.
    struct NoServer: Error {
      let reason: String
    }

    /// PostgreSQL refuses to run as root, so another user then runs it. The script watches the process of the tests for
    /// an hour at most, and ends the server by its process ID.
    private static let script = """
      umask 022
      mkdir -p %f && cd %f || exit 1
      for bin in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null); do PATH=$bin:$PATH; done
      as=
      if [ "$(id -u)" -eq 0 ]; then chown postgres %f && as='setpriv --reuid=postgres --regid=postgres --clear-groups'; fi
      export LC_ALL=C.UTF-8
      $as initdb -D %f/data -U moonbase --auth=trust --encoding=UTF8 --locale=C --no-sync >%f/log 2>&1 || exit 1
      $as postgres -D %f/data -k %f -p %p -c listen_addresses=127.0.0.1 -c fsync=off -c full_page_writes=off \
        -c max_connections=300 -c shared_buffers=64MB -c autovacuum=off -c max_wal_size=4GB >>%f/log 2>&1 &
      server=$!
      turns=0
      until pg_isready -q -h %f -p %p; do
        sleep 0.05
        turns=$((turns + 1))
        if [ $turns -gt 600 ] || ! kill -0 $server; then kill -QUIT $server; exit 1; fi
      done
      touch ready
      turns=0
      while kill -0 %w 2>/dev/null && kill -0 $server && [ $turns -lt 7200 ]; do sleep 0.5; turns=$((turns + 1)); done
      kill -QUIT $server
      wait
      rm -rf %f
      """

    private static func freePort() throws -> Int {
      let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(socket) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
        }
      }
      guard isBound else { throw NoServer(reason: "no loopback port is free") }
      return Int(UInt16(bigEndian: address.sin_port))
    }

    /// The address of a new store.
    public static func newAddress() throws -> URL {
      let server = try shared.get()
      let schema = "s" + UUID().uuidString.replacing("-", with: "").lowercased()
      guard let url = URL(string: server.address(schema: schema)) else { throw NoServer(reason: "no address") }
      return url
    }

    /// The address over the loopback port.
    public func address(schema: String) -> String {
      "postgresql://moonbase@127.0.0.1:\(port)/postgres?schema=\(schema)"
    }
  }
#endif
