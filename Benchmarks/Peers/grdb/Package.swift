// swift-tools-version: 6.2
import PackageDescription

/// The work of benchmark rows with GRDB. A package of its own, so that the benchmarks do not load GRDB.
let package = Package(
  name: "grdb-peer",
  platforms: [.macOS(.v15)],
  dependencies: [.package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")],
  targets: [
    .executableTarget(name: "grdb-peer", dependencies: [.product(name: "GRDB", package: "GRDB.swift")])
  ])
