export default {
  // The engine and the native driver are loaded from node_modules, and are not part of the bundles.
  serverExternalPackages: ['errand', 'better-sqlite3'],
}
