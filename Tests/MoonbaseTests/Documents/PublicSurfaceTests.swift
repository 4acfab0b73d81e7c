#if os(Linux)
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  /// The public surface equals the lists in `docs/surface`, so that a commit shows the changes that it makes to the
  /// surface.
  @Suite struct PublicSurfaceTests {
    /// If a list differs, the correct one is in `.build/surface`.
    @Test func theListsHoldEveryPublicDeclaration() throws {
      for (product, text) in try PublicSurface().texts {
        let kept = try Checkout.text("docs/surface/\(product).txt")
        guard kept != text else { continue }
        let folder = Checkout.file(".build/surface")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: folder.appendingPathComponent("\(product).txt"))
        let (listed, found) = (Set(kept.split(separator: "\n")), Set(text.split(separator: "\n")))
        Issue.record(
          """
          docs/surface/\(product).txt: added \(found.subtracting(listed).sorted()), \
          removed \(listed.subtracting(found).sorted()); where that is meant: cp .build/surface/*.txt docs/surface
          """)
      }
    }

    @Test func theChangelogBeginsWithTheVersion() throws {
      let changes = try Checkout.text("CHANGELOG.md")
      let versions = changes.matches(of: #/(?m)^## (.+)$/#).map { String($0.1) }
      #expect(versions.first == MoonbaseVersion.text)
    }

    @Test func anAppDoesNotSeeTheNamesOfStoreAuthors() throws {
      let app = try CompileCheck("import Moonbase\nfunc f(_ context: ManagedObjectContext, _ page: RowPage) {}")
      #expect(!app.succeeded && app.output.contains("cannot find type 'RowPage' in scope"), "\(app.output)")
      let author = try CompileCheck(
        "import MoonbaseStoreKit\nfunc f(_ context: ManagedObjectContext, _ page: RowPage) {}")
      #expect(author.succeeded, "\(author.output)")
    }
  }
#endif
