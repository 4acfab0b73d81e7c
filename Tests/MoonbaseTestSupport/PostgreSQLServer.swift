#if PostgreSQL
  public import MoonbasePlatform
  import MoonbasePostgreSQLStore

  /// A PostgreSQL server for tests, on a loopback port and a socket of its own. The server ends with the process,
  /// however the process ends.
  ///
  /// Most tests share a server, which the first of them starts. Tests that kill a server or fill its disk start their
  /// own. The password of the user `locked` is `sesame`; other users need none.
  public final class PostgreSQLServer: Sendable {
    /// The server of this process, or the error why there is none.
    public static let shared = Result { try PostgreSQLServer(at: TestLength.server) }

    /// The folder of the socket. Empty for a server that the tests did not start.
    public let folder: String
    /// The port.
    public let port: Int
    /// The size of the tablespace `small` in megabytes. The tablespace needs root.
    private let smallDisk: Int?

    /// Starts a server.
    public init(smallDisk: Int? = nil) throws {
      self.smallDisk = smallDisk
      port = try Self.freePort()
      folder = FileManager.default.temporaryDirectory.path + "/moonbase-postgresql-\(getpid())-\(port)"
      try start()
    }

    /// A server that runs already, at a loopback port. Nil starts a server.
    private convenience init(at port: Int?) throws {
      if let port { self.init(running: port) } else { try self.init() }
    }

    private init(running port: Int) {
      (self.port, folder, smallDisk) = (port, "", nil)
    }

    deinit {
      guard !folder.isEmpty else { return }
      kill()
      try? FileManager.default.removeItem(atPath: folder)
    }

    /// Starts the server, again after `kill`, and waits until it accepts connections.
    public func start() throws {
      unlink("\(folder)/killed")
      let script = Self.script.replacing("%f", with: folder).replacing("%p", with: "\(port)")
        .replacing("%w", with: "\(getpid())").replacing("%s", with: smallDisk.map { "\($0)" } ?? "")
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      // Only the server and its script see the small disk.
      process.arguments = smallDisk == nil ? ["-c", script] : ["-c", "exec unshare -m sh -c \"$0\"", script]
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

    /// Kills all processes of the server at once, as a crash of the machine does.
    public func kill() {
      unlink("\(folder)/ready")
      _ = FileManager.default.createFile(atPath: "\(folder)/killed", contents: nil)
      guard let text = try? String(contentsOfFile: "\(folder)/pid", encoding: .utf8),
        let server = pid_t(text.filter(\.isNumber))
      else { return }
      let children = try? String(contentsOfFile: "/proc/\(server)/task/\(server)/children", encoding: .utf8)
      for process in [server] + (children ?? "").split(separator: " ").compactMap({ pid_t($0) }) {
        _ = MoonbasePlatform.kill(process, SIGKILL)
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
      if [ -n "%s" ]; then
        mkdir -p small && mount -t tmpfs -o size=%sm tmpfs small && chown postgres small || { echo 'no tmpfs' >>log; exit 1; }
      fi
      export LC_ALL=C.UTF-8
      if [ ! -d data ]; then
        $as initdb -D %f/data -U moonbase --auth=trust --encoding=UTF8 --locale=C --no-sync >%f/log 2>&1 || exit 1
        sed -i '1i host all locked all scram-sha-256' data/pg_hba.conf
      fi
      $as postgres -D %f/data -k %f -p %p -c listen_addresses=127.0.0.1 -c fsync=off -c full_page_writes=off \
        -c max_connections=300 -c shared_buffers=64MB -c autovacuum=off -c max_wal_size=4GB >>%f/log 2>&1 &
      server=$!
      echo $server >pid
      turns=0
      until psql -q -h %f -p %p -U moonbase postgres -c 'SELECT 1' >>%f/log 2>&1; do
        sleep 0.05
        turns=$((turns + 1))
        if [ $turns -gt 600 ] || ! kill -0 $server; then kill -QUIT $server; exit 1; fi
      done
      psql -q -h %f -p %p -U moonbase postgres -c "CREATE ROLE locked LOGIN PASSWORD 'sesame'" >>%f/log 2>&1
      [ -z "%s" ] || psql -q -h %f -p %p -U moonbase postgres -c "CREATE TABLESPACE small LOCATION '%f/small'" >>%f/log 2>&1
      touch ready
      turns=0
      while kill -0 %w 2>/dev/null && kill -0 $server && [ $turns -lt 7200 ]; do sleep 0.5; turns=$((turns + 1)); done
      # A killed server may be started again, by another run of this script.
      [ ! -e killed ] && [ "$(cat pid)" = $server ] || exit 0
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

    /// The name of a new schema.
    public static func newSchema() -> String { "s" + UUID().uuidString.replacing("-", with: "").lowercased() }

    /// The address of a new store.
    public static func newAddress() throws -> URL { try shared.get().newAddress() }

    /// The address of a new store on this server.
    public func newAddress() throws -> URL {
      guard let url = URL(string: address(schema: Self.newSchema())) else { throw NoServer(reason: "no address") }
      return url
    }

    /// The address over the loopback port, or over another one that leads to it.
    public func address(schema: String, port: Int? = nil, user: String = "moonbase") -> String {
      "postgresql://\(user)@127.0.0.1:\(port ?? self.port)/postgres?schema=\(schema)"
    }
  }
#endif
