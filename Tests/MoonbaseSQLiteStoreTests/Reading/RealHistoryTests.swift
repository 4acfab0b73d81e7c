import MoonbaseGraph
import MoonbaseHistory
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// The histories of stores that Core Data wrote, row by row.
@Suite(.enabled(if: RealStores.areThere, "the fixtures are not beside the checkout"))
struct RealHistoryTests {
  private static let stores = ["CoreDataPlus-SampleModel2_V1", "plaso-NoteStore"]

  private func read<Result>(
    _ name: String, _ body: ([PersistentHistoryTransaction], RawDatabase, ResolvedModel) throws -> Result
  ) throws -> Result {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy(name, to: folder)
    let model = try RealStores.model(of: url)
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(SQLiteStore(url: url, model: model, options: .init(readOnly: true)))
    let context = try ManagedObjectContext(coordinator)
    let found = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)).transactions
    return try body(try #require(found), RawDatabase(url), model)
  }

  @Test(arguments: stores) func everyTransactionIsWhatItsRowSays(name: String) throws {
    try read(name) { transactions, raw, _ in
      func text(_ column: String) -> String {
        "COALESCE((SELECT ZNAME FROM ATRANSACTIONSTRING s WHERE s.Z_PK = t.\(column)TS), t.\(column), '')"
      }
      let texts = ["ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"].map(text).joined(separator: ", ")
      let rows = try raw.rows(
        "SELECT Z_PK, printf('%!.17g', ZTIMESTAMP), \(texts) FROM ATRANSACTION t ORDER BY Z_PK")
      #expect(transactions.count == rows.count && !rows.isEmpty)
      for (transaction, row) in zip(transactions, rows) {
        let parts = row.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        #expect("\(transaction.transactionNumber)" == parts[0])
        #expect(transaction.timestamp.timeIntervalSinceReferenceDate == Double(parts[1]), "\(row)")
        #expect(
          [transaction.author, transaction.bundleID, transaction.contextName, transaction.processID].map { $0 ?? "" }
            == Array(parts[2...]), "\(row)")
      }
    }
  }

  @Test(arguments: stores) func everyChangeIsWhatItsRowSays(name: String) throws {
    try read(name) { transactions, raw, model in
      let rows = try raw.rows(
        """
        SELECT ZTRANSACTIONID, c.Z_PK, ZCHANGETYPE, Z_NAME, ZENTITYPK, COALESCE(hex(ZCOLUMNS), '')
        FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = c.ZENTITY ORDER BY ZTRANSACTIONID, c.Z_PK
        """)
      let found = transactions.flatMap { transaction in (transaction.changes ?? []).map { (transaction, $0) } }
      #expect(try raw.value("SELECT COUNT(*) FROM ACHANGE") == "\(found.count)")
      #expect(found.count == rows.count && !rows.isEmpty)
      for ((transaction, change), row) in zip(found, rows) {
        let id = change.changedObjectID
        let kind = change.changeType
        let parts = row.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        #expect(
          ["\(transaction.transactionNumber)", "\(change.changeID)", "\(kind.rawValue)", id.entityName, "\(id.key)"]
            == Array(parts[..<5]))
        let entity = try #require(model.entity(id.entityName))
        #expect(try change.updatedProperties == Self.names(ofBits: parts[5], in: entity, of: model), "\(row)")
        #expect((kind == .update) == !change.updatedProperties.isEmpty, "\(row)")
        #expect(change.changeType == .delete || change.tombstone.isEmpty)
      }
    }
  }

  /// The properties whose bits are set in `digits`, hexadecimal digits with the first property's bit highest. The order
  /// is: to-one relationships, then those among them with a column for the destination's entity, attributes, and
  /// to-many relationships; each group by declaring entity and name.
  private static func names(
    ofBits digits: String, in entity: ResolvedEntity, of model: ResolvedModel
  ) throws -> [String] {
    let stored = entity.properties.filter { !$0.isTransient }.sorted {
      ($0.declaringEntity, $0.name) < ($1.declaringEntity, $1.name)
    }
    let toOne = stored.filter { $0.relationship?.isToMany == false }
    let told = toOne.filter { model.entities[$0.relationship!.destination].hasSubentities }
    let toMany = stored.filter { $0.relationship?.isToMany == true }
    let names = (toOne + told + stored.filter { $0.relationship == nil } + toMany).map(\.name)
    let bits = try digits.flatMap { digit in
      let number = try #require(digit.hexDigitValue)
      return [8, 4, 2, 1].map { number & $0 != 0 }
    }
    return Set(zip(names, bits).filter(\.1).map(\.0)).sorted()
  }

  /// The meaning of the bits is not documented. By this interpretation the history describes plausible actions: notes
  /// typed and synced.
  @Test func whatNotesChangedMakesSense() throws {
    try read("plaso-NoteStore") { transactions, _, _ in
      let updates = transactions.flatMap { $0.changes ?? [] }.filter { $0.changeType == .update }
      func names(_ entity: String) -> Set<String> {
        Set(updates.filter { $0.changedObjectID.entityName == entity }.flatMap(\.updatedProperties))
      }
      #expect(
        names("ICCloudState")
          == ["currentLocalVersion", "inCloud", "latestVersionSyncedToCloud", "localVersionDate"])
      #expect(names("ICNoteData") == ["data"] && names("ICServerChangeToken") == ["ckServerChangeTokenData"])
      #expect(names("ICDeviceMigrationState") == ["serverRecordData"])
      #expect(
        names("ICNote") == [
          "lastActivitySummaryViewedDate", "lastOpenedDate", "markedForDeletion", "modificationDate", "noteHasChanges",
          "paperStyleType", "serverRecordData", "snippet", "title", "unappliedEncryptedRecord",
        ])
      let typed = transactions.first { $0.transactionNumber == 34 }?.changes?.first {
        $0.changedObjectID.entityName == "ICNote"
      }
      #expect(typed?.updatedProperties == ["modificationDate", "snippet", "title"])
      let crypto = transactions.first { $0.transactionNumber == 9 }?.changes?.first {
        $0.changedObjectID.entityName == "ICAccount"
      }
      #expect(
        crypto?.updatedProperties == [
          "cryptoIterationCount", "cryptoSalt", "cryptoVerifier", "isPasswordProtected", "needsToBeFetchedFromCloud",
          "passwordHint", "serverRecordData", "unappliedEncryptedRecord", "userRecordName",
        ])
    }
  }
}
