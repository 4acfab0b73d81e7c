/// Queries of `moonbase sql` over the people of `Workbench.withPeople`, for stores in files and on servers.
enum SQLCases {
  /// Queries with their rows in the form of CSV. `friends` is the view of the pairs of friends.
  static func answers(friends: String) -> [(query: String, rows: String)] {
    [
      (
        "SELECT d.name, COUNT(*) n FROM Person p JOIN Department d ON p.department = d._pk GROUP BY 1",
        "name,n\nSales,2\n"
      ),
      ("SELECT _entity, name, age FROM Person WHERE age = 30 AND name = ''", "_entity,name,age\nBoss,\"\",30\n"),
      ("SELECT title FROM Boss", "title\nDr\n"),
      // Each pair is there in both directions.
      ("SELECT COUNT(*) n FROM \(friends)", "n\n2\n"),
      ("SELECT COUNT(*) n FROM ZPERSON", "n\n3\n"),
    ]
  }

  /// Statements that would write.
  static let writing = [
    "DELETE FROM ZPERSON", "UPDATE ZPERSON SET ZAGE = 1", "DROP TABLE ZPERSON", "SELECT 1; DELETE FROM ZPERSON",
  ]

  /// Queries with a mistake, with words of the message on all engines.
  static let mistakes = [
    ("SELECT * FROM Persn", "; did you mean "), ("SELECT nme FROM Person", "nme"), ("SELEC 1", "syntax error"),
    (" ", "there is no statement"),
  ]
}
