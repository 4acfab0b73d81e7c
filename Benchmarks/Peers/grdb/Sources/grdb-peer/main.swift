import Foundation
import GRDB

// Does the work of a benchmark row: (insert | fetch | fetch-rows) FILE COUNT. Prints the seconds and the answer.

/// A row of the table that `people.py` and the yardsticks in C make.
struct Person: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "ZPERSON"

  var key: Int64
  var entity = 1
  var version = 1
  var age: Int
  var born: Double
  var height: Double
  var firstName: String
  var lastName: String
  var color: Data

  enum CodingKeys: String, CodingKey {
    case key = "Z_PK"
    case entity = "Z_ENT"
    case version = "Z_OPT"
    case age = "ZAGE"
    case born = "ZBORN"
    case height = "ZHEIGHT"
    case firstName = "ZFIRSTNAME"
    case lastName = "ZLASTNAME"
    case color = "ZCOLOR"
  }

  init(row: Int) {
    key = Int64(row + 1)
    age = row % 100
    born = Double(row) * 60
    height = 1.5 + Double(row % 50) / 100
    firstName = "First\(row % 1000)"
    lastName = "Last\(row)"
    color = [Double(row % 256) / 255, 0.5, 0.25, 1].withUnsafeBytes { Data($0) }
  }
}

func insert(_ path: String, _ count: Int) throws -> (ContinuousClock.Instant, Int) {
  for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  let database = try DatabasePool(path: path)
  try database.write { database in
    try database.execute(
      sql: """
        CREATE TABLE ZPERSON (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAGE INTEGER, ZBORN TIMESTAMP,
          ZHEIGHT FLOAT, ZFIRSTNAME VARCHAR, ZLASTNAME VARCHAR, ZCOLOR BLOB)
        """)
  }
  let begin = ContinuousClock.now
  var answer = 0
  try database.write { database in
    for row in 0..<count {
      let person = Person(row: row)
      try person.insert(database)
      answer += person.age
    }
  }
  return (begin, answer)
}

func fetchRecords(_ path: String) throws -> (ContinuousClock.Instant, Int) {
  let begin = ContinuousClock.now
  var (answer, kept) = (0, 0.0)
  let people = try DatabasePool(path: path).read { try Person.fetchAll($0) }
  for person in people {
    answer += person.age + person.firstName.utf8.count + person.lastName.utf8.count + person.color.count
    kept += person.born + person.height
  }
  return (begin, kept.isNaN ? 0 : answer)
}

func fetchRows(_ path: String) throws -> (ContinuousClock.Instant, Int) {
  let begin = ContinuousClock.now
  var (answer, kept) = (0, 0.0)
  try DatabasePool(path: path).read { database in
    let rows = try Row.fetchCursor(
      database, sql: "SELECT ZAGE, ZFIRSTNAME, ZLASTNAME, ZCOLOR, ZBORN, ZHEIGHT FROM ZPERSON")
    while let row = try rows.next() {
      let (age, first, last, color): (Int, String, String, Data) = (row[0], row[1], row[2], row[3])
      let (born, height): (Double, Double) = (row[4], row[5])
      answer += age + first.utf8.count + last.utf8.count + color.count
      kept += born + height
    }
  }
  return (begin, kept.isNaN ? 0 : answer)
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[3]) else { exit(64) }
let (begin, answer) =
  switch arguments[1] {
  case "insert": try insert(arguments[2], count)
  case "fetch": try fetchRecords(arguments[2])
  case "fetch-rows": try fetchRows(arguments[2])
  default: exit(64)
  }
print((ContinuousClock.now - begin) / .seconds(1), answer)
