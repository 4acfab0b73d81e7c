#if PostgreSQL
  internal import MoonbaseCPostgreSQL
  import MoonbasePlatform

  /// A connection to a server. Only a single thread may use it at a time.
  ///
  /// ```swift
  /// let connection = try PostgreSQLConnection(["host": "/run/postgresql", "dbname": "people"])
  /// let rows = try connection.query("SELECT count(*) FROM zperson")
  /// ```
  package final class PostgreSQLConnection: @unchecked Sendable {  // its owner has exclusive use
    private struct Shape: Hashable {
      let sql: String
      let types: [UInt32]
    }

    private let connection: OpaquePointer
    /// The names of the prepared statements.
    private var prepared: [Shape: String] = [:]
    private var preparedCount = 0
    /// The greatest number of prepared statements. Beyond it all are forgotten.
    private static let greatestCount = 500
    /// The statement whose answer has not been received.
    private var pending: PendingRows?
    /// The `COPY` whose rows are being received.
    private var copying: (sql: String, began: ContinuousClock.Instant, messageCount: Int)?
    /// Called after each statement with its text, its parameters, the number of rows and the duration.
    package var observer: ((String, Parameters, Int, Duration) -> Void)?
    /// Whether waiting for the server must end.
    package var isCancelled: (() -> Bool)?

    /// Connects with libpq's parameters. For missing parameters libpq uses the environment and its files.
    package init(_ parameters: [(name: String, value: String)]) throws {
      let names = parameters.map { strdup($0.name) } + [nil]
      let values = parameters.map { strdup($0.value) } + [nil]
      defer { for text in names + values { free(text) } }
      let made = names.map { UnsafePointer($0) }.withUnsafeBufferPointer { names in
        values.map { UnsafePointer($0) }.withUnsafeBufferPointer { values in
          // With the flag 1, `dbname` may be a whole address.
          PQconnectdbParams(names.baseAddress, values.baseAddress, 1)
        }
      }
      guard let made else { throw PostgreSQLError(message: "there is no memory for a connection") }
      guard PQstatus(made) == CONNECTION_OK else {
        let error = Self.failure(of: made)
        PQfinish(made)
        throw error
      }
      connection = made
      PQsetNoticeProcessor(made, { _, _ in }, nil)
    }

    deinit { PQfinish(connection) }

    /// The states of refusals, by words of the messages.
    private static let refusals: [(words: String, state: String)] = [
      ("too many", "53300"), ("remaining connection slots", "53300"), ("authentication failed", "28P01"),
      ("no password supplied", "28P01"), ("no pg_hba.conf entry", "28000"), ("not permitted to log in", "28000"),
      ("role \"", "28000"), ("database \"", "3D000"),
    ]

    private static func failure(of connection: OpaquePointer) -> PostgreSQLError {
      let words = self.words(of: connection)
      // libpq reports no code for a refused connection; only the text of the message tells the reason.
      let state = refusals.first { words.contains($0.words) }?.state ?? ""
      var error = PostgreSQLError(state: state, message: words, isConnectionLost: true)
      // libpq refuses a parameter before it connects, and the server refuses a setting after that.
      let isRefusedSetting = ["configuration parameter \"", "value for parameter \""].contains { words.contains($0) }
      error.isOfParameter = isRefusedSetting || !attempts.contains { words.hasPrefix($0) }
      if error.isOfParameter { error.isConnectionLost = false }
      return error
    }

    /// The beginnings of messages about an attempt to connect.
    private static let attempts = ["connection to server", "could not translate host name", "could not connect"]

    /// The message of the last error in one line.
    private static func words(of connection: OpaquePointer) -> String {
      let words = PQerrorMessage(connection).map { String(cString: $0) } ?? ""
      return words.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        .joined(separator: " ")
    }

    /// Whether the connection is open, as far as is known without a round trip.
    package var isAlive: Bool { PQstatus(connection) == CONNECTION_OK }

    /// Whether a statement has run on the connection. A used connection may turn out to be lost.
    package private(set) var wasUsed = false

    /// Whether a transaction is open.
    package var isInTransaction: Bool { PQtransactionStatus(connection) != PQTRANS_IDLE }

    /// The ID of the server's process for this connection.
    package var processID: Int32 { PQbackendPID(connection) }

    /// A setting that the server reports: `server_version`, `server_encoding`.
    package func serverSetting(_ name: String) -> String? {
      PQparameterStatus(connection, name).map { String(cString: $0) }
    }

    /// The version of the server as a number, 140000 for 14.0.
    package var serverVersion: Int { Int(PQserverVersion(connection)) }

    /// The user, host, port and database of the connection.
    package var place: (user: String, host: String, port: String, database: String) {
      func text(_ value: UnsafeMutablePointer<CChar>?) -> String { value.map { String(cString: $0) } ?? "" }
      return (text(PQuser(connection)), text(PQhost(connection)), text(PQport(connection)), text(PQdb(connection)))
    }

    // MARK: Statements

    /// Runs statements without parameters in one round trip. Returns the rows of the last statement.
    @discardableResult
    package func execute(_ sql: String) throws -> ResultRows? {
      try run(sql, Parameters()) { PQsendQuery(connection, sql) }
    }

    /// Runs a statement, which the server prepares on first use.
    @discardableResult
    package func query(_ sql: String, _ parameters: Parameters = Parameters()) throws -> ResultRows {
      let name = try prepare(sql, parameters)
      let rows = try run(sql, parameters) {
        parameters.withPointers { count, _, values, lengths, formats in
          PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1)
        }
      }
      guard let rows else { throw PostgreSQLError(message: "the server gave no answer") }
      return rows
    }

    /// Runs a statement without preparing it. With `asText` the values come in their text form, whatever their types.
    @discardableResult
    package func queryOnce(
      _ sql: String, _ parameters: Parameters = Parameters(), asText: Bool = false
    ) throws -> ResultRows {
      let rows = try run(sql, parameters) {
        parameters.withPointers { count, types, values, lengths, formats in
          PQsendQueryParams(connection, sql, count, types, values, lengths, formats, asText ? 0 : 1)
        }
      }
      guard let rows else { throw PostgreSQLError(message: "the server gave no answer") }
      return rows
    }

    /// Sends a statement without waiting for its rows, which the server computes meanwhile. The next statement waits
    /// for them first, and throws their error.
    package func begin(_ sql: String) throws -> PendingRows {
      try settle()
      let pending = PendingRows(sql)
      guard PQsendQueryParams(connection, sql, 0, nil, nil, nil, nil, 1) == 1 else { throw lost() }
      self.pending = pending
      return pending
    }

    /// Waits for the rows of a statement that was begun.
    package func rows(of pending: PendingRows) throws -> ResultRows {
      if pending === self.pending { try settle() }
      guard let rows = try pending.result?.get() else { throw PostgreSQLError(message: "the server gave no answer") }
      return rows
    }

    /// Receives the answer to the statement that was begun, if there is one.
    private func settle() throws {
      guard let pending else { return }
      self.pending = nil
      pending.result = Result { try receive(pending.sql, Parameters(), since: pending.began) }
      _ = try pending.result?.get()
    }

    /// Waits for a notification on a channel that the connection listens to. Returns whether one came in time.
    ///
    /// Returns at once where the connection is lost.
    package func waitForNotification(milliseconds: Int32) -> Bool {
      // A notification may have come with the answer to a statement.
      if takeNotifications() { return true }
      var event = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
      guard poll(&event, 1, milliseconds) > 0, PQconsumeInput(connection) == 1 else { return false }
      return takeNotifications()
    }

    private func takeNotifications() -> Bool {
      var isThere = false
      while let notification = PQnotifies(connection) {
        PQfreemem(notification)
        isThere = true
      }
      return isThere
    }

    /// Sends rows to a table: `COPY ... FROM STDIN` in binary form. Returns the number of rows that were written.
    package func copy(_ rows: consuming CopyRows, into table: String, columns: [String]) throws -> Int {
      rows.finish()
      let sql = "COPY \(table) (\(columns.joined(separator: ", "))) FROM STDIN (FORMAT binary)"
      let bytes = rows.wire.bytes
      let result = try run(sql, Parameters(), copying: bytes) { PQsendQuery(connection, sql) }
      return result?.affectedCount ?? 0
    }

    /// Begins to receive the rows of a query without parameters, by `COPY ... TO STDOUT` in binary form. No other
    /// statement may run on the connection before the last row is received.
    package func beginCopying(_ query: String) throws {
      try settle()
      let sql = "COPY (\(query)) TO STDOUT (FORMAT binary)"
      let began = ContinuousClock.now
      guard PQsendQuery(connection, sql) == 1 else { throw lost() }
      try waitForAnswer()
      guard let result = PQgetResult(connection) else { throw lost() }
      guard PQresultStatus(result) == PGRES_COPY_OUT else {
        let failure = error(result)
        PQclear(result)
        _ = try receive(nil, Parameters(), since: began)
        throw failure
      }
      PQclear(result)
      copying = (sql, began, 0)
    }

    /// The next rows of the `COPY`, at most `count`, fewer if they have more bytes than `size`. None at the end.
    package func copiedRows(upTo count: Int, ofSize size: Int) throws -> ResultRows {
      let rows = CopiedRows(expecting: count)
      while let copying, rows.count < count, rows.size < size {
        var message: UnsafeMutablePointer<CChar>?
        var length: Int32 = 0
        try wait {
          length = PQgetCopyData(connection, &message, 1)
          return length != 0
        }
        if length > 0, let message {
          guard rows.add(UnsafeRawBufferPointer(start: message, count: Int(length)), isFirst: copying.messageCount == 0)
          else {
            throw PostgreSQLError(message: "the server sent rows in a form that is none of COPY")
          }
          self.copying?.messageCount += 1
        } else {
          self.copying = nil
          let isWhole = length == -1
          // The last message has no row.
          let count = max(0, copying.messageCount - 1)
          _ = try receive(copying.sql, Parameters(), since: copying.began, count: count)
          if !isWhole { throw lost() }
        }
      }
      return ResultRows(rows)
    }

    /// Prepares a statement without running it, so that the server checks it.
    package func check(_ sql: String, _ parameters: Parameters) throws {
      _ = try prepare(sql, parameters)
    }

    private func prepare(_ sql: String, _ parameters: Parameters) throws -> String {
      let shape = Shape(sql: sql, types: parameters.places.map(\.type))
      if let known = prepared[shape] { return known }
      if prepared.count >= Self.greatestCount {
        try execute("DEALLOCATE ALL")
        prepared = [:]
      }
      preparedCount += 1
      let name = "m\(preparedCount)"
      _ = try run(nil, parameters) {
        shape.types.withUnsafeBufferPointer {
          PQsendPrepare(connection, name, sql, Int32($0.count), $0.baseAddress)
        }
      }
      prepared[shape] = name
      return name
    }

    // MARK: Waiting

    /// The longest time between two checks whether waiting must end, in milliseconds.
    private static let pause: Int32 = 50

    /// Runs a statement. The observer is notified, except when a statement is only prepared. `bytes` are the rows of a
    /// `COPY` to the server.
    private func run(
      _ sql: String?, _ parameters: Parameters, copying bytes: ContiguousArray<UInt8>? = nil, send: () -> Int32
    ) throws -> ResultRows? {
      try settle()
      let began = ContinuousClock.now
      guard send() == 1 else { throw lost() }
      return try receive(sql, parameters, since: began, copying: bytes)
    }

    /// Receives the answer to a statement. `count` is the number of rows that were received before.
    private func receive(
      _ sql: String?, _ parameters: Parameters, since began: ContinuousClock.Instant,
      copying bytes: ContiguousArray<UInt8>? = nil, count: Int = 0
    ) throws -> ResultRows? {
      var last: ResultRows?
      var failure: PostgreSQLError?
      try waitForAnswer()
      while let result = PQgetResult(connection) {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE, PGRES_EMPTY_QUERY:
          last = ResultRows(result)
        case PGRES_COPY_IN:
          PQclear(result)
          try sendRows(bytes)
          try waitForAnswer()
        case PGRES_COPY_OUT:
          PQclear(result)
          failure = failure ?? PostgreSQLError(state: "0A000", message: "COPY TO STDOUT is not possible here")
          drain()
        default:
          if failure == nil { failure = error(result) }
          PQclear(result)
        }
      }
      if let failure { throw failure }
      if PQstatus(connection) != CONNECTION_OK { throw lost() }
      wasUsed = true
      if let sql { observer?(sql, parameters, max(last?.count ?? 0, count), ContinuousClock.now - began) }
      return last
    }

    /// Waits for the first answer to a statement.
    private func waitForAnswer() throws { try wait { PQisBusy(connection) == 0 } }

    /// Waits until the server has sent what is needed. Asks the server to cancel the statement where waiting must end.
    private func wait(until isThere: () -> Bool) throws {
      var isCancelled = false
      while true {
        let state = PQflush(connection)
        if state < 0 { throw lost() }
        if state == 0, isThere() { return }
        var event = pollfd(
          fd: PQsocket(connection), events: Int16(POLLIN | (state == 1 ? POLLOUT : 0)), revents: 0)
        let found = poll(&event, 1, Self.pause)
        if found == 0, !isCancelled, HostWork.isOver || self.isCancelled?() == true {
          cancel()
          isCancelled = true
        }
        if found != 0, PQconsumeInput(connection) == 0 { throw lost() }
      }
    }

    /// The greatest number of bytes in one message of a `COPY`.
    private static let greatestMessage = 1 << 20

    /// Sends the rows of a `COPY`. A statement without rows is ended with an error.
    private func sendRows(_ bytes: ContiguousArray<UInt8>?) throws {
      guard let bytes else {
        guard PQputCopyEnd(connection, "COPY FROM STDIN is not possible here") == 1 else { throw lost() }
        return
      }
      let isSent = bytes.withUnsafeBytes { bytes in
        stride(from: 0, to: bytes.count, by: Self.greatestMessage).allSatisfy { start in
          let part = bytes[start..<min(bytes.count, start + Self.greatestMessage)]
          return part.withMemoryRebound(to: CChar.self) {
            PQputCopyData(connection, $0.baseAddress, Int32($0.count)) == 1
          }
        }
      }
      guard isSent, PQputCopyEnd(connection, nil) == 1 else { throw lost() }
    }

    /// Reads the rows of a `COPY TO STDOUT`, and drops them.
    private func drain() {
      var row: UnsafeMutablePointer<CChar>?
      while PQgetCopyData(connection, &row, 0) > 0 { PQfreemem(row) }
    }

    private func cancel() {
      guard let request = PQgetCancel(connection) else { return }
      defer { PQfreeCancel(request) }
      var words = [CChar](repeating: 0, count: 256)
      _ = PQcancel(request, &words, Int32(words.count))
    }

    private func lost() -> PostgreSQLError {
      let words = Self.words(of: connection)
      // Reads the rest of the answer, so that the next statement does not receive it.
      while let result = PQgetResult(connection) {
        // The answer does not end before the rows of a `COPY`.
        let isCopying = [PGRES_COPY_IN, PGRES_COPY_OUT].contains(PQresultStatus(result))
        PQclear(result)
        if isCopying { break }
      }
      return PostgreSQLError(
        message: words, isConnectionLost: PQstatus(connection) != CONNECTION_OK)
    }

    /// The beginning of the message about a repeated unique value, before the name of the constraint.
    private static let repetition = "duplicate key value violates unique constraint \""

    private func error(_ result: OpaquePointer) -> PostgreSQLError {
      func field(_ code: UnicodeScalar) -> String? {
        PQresultErrorField(result, Int32(code.value)).map { String(cString: $0) }
      }
      let words = PQresultErrorMessage(result).map { String(cString: $0) } ?? ""
      var error = PostgreSQLError(
        state: field("C") ?? "", message: field("M") ?? words.trimmingCharacters(in: .whitespacesAndNewlines),
        isConnectionLost: PQstatus(connection) != CONNECTION_OK)
      error.detail = field("D")
      error.constraint = field("n")
      // Citus reports a unique value that an insertion repeats on a worker as an internal error.
      if error.state == "XX000", error.message.hasPrefix(Self.repetition) {
        error.state = "23505"
        error.constraint = error.message.dropFirst(Self.repetition.count).prefix { $0 != "\"" }.description
      }
      // 57P01 to 57P03: the server shuts down, or is starting. 08P01 refuses a statement.
      if error.state.hasPrefix("57P") || error.state.hasPrefix("08") && error.state != "08P01" {
        error.isConnectionLost = true
      }
      return error
    }
  }

  /// A statement that was sent, and its rows once they are received.
  package final class PendingRows {
    fileprivate let sql: String
    fileprivate let began = ContinuousClock.now
    fileprivate var result: Result<ResultRows?, any Error>?

    fileprivate init(_ sql: String) { self.sql = sql }
  }

  extension Parameters {
    fileprivate func withPointers(
      _ body: (
        Int32, UnsafePointer<Oid>?, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
      ) -> Int32
    ) -> Int32 {
      let arrays = self.arrays.map(\.wire.bytes)
      let types = places.map(\.type)
      let formats = [Int32](repeating: 1, count: places.count)
      var lengths = [Int32](repeating: 0, count: places.count)
      var values = [UnsafePointer<CChar>?](repeating: nil, count: places.count)
      return withExtendedLifetime(arrays) {
        wire.bytes.withUnsafeBytes { bytes in
          // libpq distinguishes an empty text from NULL by its pointer.
          let somewhere = UnsafeRawPointer(bitPattern: 16)
          for (place, parameter) in places.enumerated() {
            if let array = parameter.array {
              arrays[array].withUnsafeBytes { values[place] = $0.baseAddress?.assumingMemoryBound(to: CChar.self) }
              lengths[place] = Int32(arrays[array].count)
            } else if let range = parameter.range {
              let start = range.isEmpty ? somewhere : bytes.baseAddress.map { $0 + range.lowerBound }
              values[place] = start?.assumingMemoryBound(to: CChar.self)
              lengths[place] = Int32(range.count)
            }
          }
          return types.withUnsafeBufferPointer { types in
            values.withUnsafeBufferPointer { values in
              lengths.withUnsafeBufferPointer { lengths in
                formats.withUnsafeBufferPointer { formats in
                  body(
                    Int32(places.count), types.baseAddress, values.baseAddress, lengths.baseAddress,
                    formats.baseAddress)
                }
              }
            }
          }
        }
      }
    }
  }
#endif
