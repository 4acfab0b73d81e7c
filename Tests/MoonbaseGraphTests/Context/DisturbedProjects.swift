import MoonbaseGraph
import MoonbaseModel

extension ManagedObjectContext {
  /// What a hook that meddles does to projects: one goes, one leaves its department, and those that stay stand the other way round.
  func disturbProjects() throws {
    let projects = try fetch(FetchRequest("Project"))
    if let first = projects.first { try delete(first) }
    if let last = projects.last, !last.isDeleted { try last.setObject(nil, forKey: "department") }
    for department in try fetch(FetchRequest("Department")) {
      try department.setObjects(department.objects(forKey: "projects").reversed(), forKey: "projects")
    }
  }
}
