import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport

/// A Moonbase store with damage that bytes describe.
struct DamagedStore {
  let model = Base.all[0].model
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  /// A number below a bound; 0 at the end.
  private mutating func next(_ bound: Int) -> Int {
    var number = 0
    for _ in 0..<3 { number = number << 8 | Int(rest.popFirst() ?? 0) }
    return number % max(1, bound)
  }

  /// Writes the damaged files into a new folder.
  func written() throws -> TemporaryFolder {
    var program = self
    let folder = try TemporaryFolder()
    var files = Base.all[program.next(Base.all.count)].files
    let hasStatements = program.next(2) == 0
    if hasStatements {
      try Self.write(files, in: folder)
      for _ in 0...program.next(2) { program.runStatement(in: folder) }
      files = try folder.contents()
    }
    // After changes by statements, bytes are damaged only now and then: otherwise SQLite would rarely read the changes.
    if !hasStatements || program.next(4) == 0 {
      for _ in 0...program.next(6) {
        let name = files.keys.sorted()[program.next(8) == 0 ? program.next(files.count) : 0]
        guard var bytes = files[name].map({ Array($0) }), !bytes.isEmpty else { continue }
        program.damage(&bytes)
        files[name] = Data(bytes)
      }
    }
    try Self.write(files, in: folder)
    return folder
  }

  private static func write(_ files: [String: Data], in folder: TemporaryFolder) throws {
    for (name, bytes) in files where !name.hasSuffix("-shm") { try bytes.write(to: folder.file(name)) }
  }

  private mutating func damage(_ bytes: inout [UInt8]) {
    let page = 4096
    // The headers of pages and of the file matter most.
    let place =
      switch next(4) {
      case 0: next(min(bytes.count, 100))
      case 1: min(bytes.count - 1, next(bytes.count / page + 1) * page + next(16))
      default: next(bytes.count)
      }
    switch next(6) {
    case 0: bytes[place] ^= 1 << UInt8(next(8))
    case 1: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF][next(5)]
    case 2: bytes.removeLast(next(bytes.count))
    case 3:
      let value = UInt8(next(256))
      for index in place..<min(bytes.count, place + next(300)) { bytes[index] = value }
    case 4:
      let (from, to) = (next(bytes.count / page + 1) * page, next(bytes.count / page + 1) * page)
      for index in 0..<page where max(from, to) + index < bytes.count { bytes[to + index] = bytes[from + index] }
    default: bytes[place] = UInt8(next(256))
    }
  }

  private mutating func runStatement(in folder: TemporaryFolder) {
    let statement = Self.statements[next(Self.statements.count)]
    let value = Self.values[next(Self.values.count)]
    let table = ["ZPERSON", "ZDEPARTMENT", "ZPROJECT"][next(3)]
    let sql = statement.replacing("$V", with: value).replacing("$T", with: table)
    guard let connection = try? Connection(folder.file().path, mode: .readWrite, trustsSchema: true) else { return }
    try? connection.executeScript("PRAGMA writable_schema = 1; PRAGMA ignore_check_constraints = 1; " + sql)
  }

  private static let values = [
    "NULL", "-1", "0", "2", "99999", "9223372036854775807", "-9223372036854775808", "1e308", "9e999", "'x'", "''",
    "'2x'", "x''",
    "x'ff41ff'", "CAST(x'ff41ff' AS TEXT)", "x'02'", "zeroblob(5000)", "'a' || char(0) || 'b'", "3.5",
  ]

  /// Changes that another program may have made to a file. Endless triggers are not included: they end only with the
  /// limits of a script or its task.
  private static let statements = [
    "UPDATE $T SET Z_ENT = $V", "UPDATE $T SET Z_OPT = $V", "UPDATE $T SET Z_PK = $V WHERE Z_PK = 1",
    "UPDATE ZPERSON SET ZAGE = $V, ZFIRSTNAME = $V, ZBORN = $V", "UPDATE ZPERSON SET ZCOLOR = $V, ZSALARY = $V",
    "UPDATE ZPERSON SET ZDEPARTMENT = $V WHERE Z_PK % 2", "UPDATE ZPERSON SET ZEMAIL = $V WHERE Z_PK = 2",
    "UPDATE ZPROJECT SET Z_FOK_DEPARTMENT = $V, ZDEPARTMENT = $V WHERE Z_PK = 2", "UPDATE Z_PRIMARYKEY SET Z_MAX = $V",
    "UPDATE Z_PRIMARYKEY SET Z_NAME = $V WHERE Z_ENT = 2", "UPDATE Z_PRIMARYKEY SET Z_SUPER = $V",
    "UPDATE Z_PRIMARYKEY SET Z_ENT = $V WHERE Z_ENT = 2", "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 1",
    "UPDATE Z_METADATA SET Z_PLIST = $V", "UPDATE Z_METADATA SET Z_UUID = $V", "UPDATE Z_METADATA SET Z_VERSION = $V",
    "INSERT INTO Z_METADATA SELECT 7, Z_UUID, Z_PLIST FROM Z_METADATA", "DELETE FROM Z_METADATA",
    "UPDATE Z_MODELCACHE SET Z_CONTENT = $V", "DELETE FROM Z_MODELCACHE", "DROP TABLE Z_MODELCACHE", "DROP TABLE $T",
    "ALTER TABLE $T DROP COLUMN Z_OPT", "ALTER TABLE ZPERSON DROP COLUMN ZFIRSTNAME", "ALTER TABLE $T RENAME TO other",
    "ALTER TABLE $T ADD COLUMN extra AS (Z_PK * 2)", "DROP TABLE ACHANGE", "UPDATE ACHANGE SET ZCHANGETYPE = $V",
    "UPDATE ACHANGE SET ZENTITY = $V, ZENTITYPK = $V, ZCOLUMNS = $V", "UPDATE ACHANGE SET ZTRANSACTIONID = $V",
    "UPDATE ATRANSACTION SET ZTIMESTAMP = $V, ZAUTHORTS = $V", "UPDATE ATRANSACTIONSTRING SET ZNAME = $V || Z_PK",
    "ALTER TABLE $T RENAME TO other; CREATE VIEW $T AS SELECT * FROM other",
    "CREATE TRIGGER h AFTER UPDATE ON $T BEGIN UPDATE $T SET Z_OPT = Z_OPT + 1; END",
    "CREATE TRIGGER h BEFORE INSERT ON $T BEGIN SELECT RAISE(IGNORE); END",
    "CREATE TRIGGER h BEFORE DELETE ON $T BEGIN SELECT RAISE(ABORT, 'no'); END",
    "CREATE TRIGGER h AFTER UPDATE ON $T BEGIN SELECT load_extension('x'); END",
    "CREATE TRIGGER h AFTER INSERT ON $T BEGIN DELETE FROM $T; END",
    "CREATE UNIQUE INDEX h ON $T (Z_OPT)", "CREATE INDEX h ON $T (random())",
    "CREATE INDEX h ON $T (abs(Z_PK) * $V) WHERE Z_OPT > $V", "CREATE UNIQUE INDEX h ON $T (Z_OPT + 1) WHERE Z_PK > 2",
    "CREATE VIRTUAL TABLE h USING rtree(a, b, c); "
      + "CREATE TRIGGER t AFTER UPDATE ON $T BEGIN INSERT INTO h VALUES (NEW.Z_PK, $V, 1); END",
    "CREATE VIRTUAL TABLE h USING fts5(a)",
    "UPDATE sqlite_master SET sql = 'CREATE TABLE $T (a)' WHERE name = '$T'",
    "UPDATE sqlite_master SET sql = $V WHERE name = '$T'", "UPDATE sqlite_master SET rootpage = 3 WHERE name = '$T'",
    "UPDATE sqlite_master SET rootpage = $V WHERE type = 'index'",
    "UPDATE sqlite_master SET sql = replace(sql, 'INTEGER PRIMARY KEY', 'INTEGER') WHERE name = '$T'",
    "UPDATE sqlite_master SET sql = replace(sql, 'VARCHAR', 'VARCHAR COLLATE NOCASE')",
    "INSERT INTO Z_1FRIENDS SELECT a.Z_PK, b.Z_PK FROM ZPERSON a, ZDEPARTMENT b", "PRAGMA user_version = 5",
    "PRAGMA application_id = 7", "PRAGMA journal_mode = DELETE", "PRAGMA page_size = 512; VACUUM",
  ]
}

/// Initial stores: with a log that was not checkpointed, and with all data in the file.
private struct Base: Sendable {
  let model: ResolvedModel
  let files: [String: Data]

  static let all: [Base] = {
    do {
      return try [false, true].map { try Base(closed: $0) }
    } catch {
      preconditionFailure("no store to damage: \(error)")
    }
  }()

  private init(closed: Bool) throws {
    model = try People.model().resolved()
    let folder = try TemporaryFolder()
    let copy = try TemporaryFolder()
    do {
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(SQLiteStore(url: folder.file(), model: model, options: .init(tracksHistory: true)))
      try Self.fill(ManagedObjectContext(coordinator))
      if !closed { try Self.copy(folder, to: copy) }
    }
    if closed { try Self.copy(folder, to: copy) }
    files = try copy.contents()
  }

  private static func copy(_ folder: TemporaryFolder, to copy: TemporaryFolder) throws {
    for name in ["store.sqlite", "store.sqlite-wal"]
    where FileManager.default.fileExists(atPath: folder.file(name).path) {
      try FileManager.default.copyItem(at: folder.file(name), to: copy.file(name))
    }
  }

  private static func fill(_ context: ManagedObjectContext) throws {
    var people: [ManagedObject] = []
    for number in 0..<3 {
      let department = try context.insert("Department", values: ["name": .string("department \(number)")])
      for part in 0..<4 {
        let project = try context.insert("Project", values: ["title": .string("project \(part)")])
        try project.setObject(department, forKey: "department")
        let values: [String: Value] = [
          "firstName": .string("person \(part)"), "email": .string("\(number).\(part)"), "age": .int(Int64(part)),
          "born": .date(Date(timeIntervalSinceReferenceDate: Double(part))),
        ]
        let person = try context.insert(part % 2 == 0 ? "Person" : "Employee", values: values)
        try person.setObject(department, forKey: "department")
        if let last = people.last { try person.setObjects([last], forKey: "friends") }
        people.append(person)
      }
      try context.save()
    }
    try context.delete(people[3])
    try context.save()
  }
}
