// What is loaded for a ledger on a server: the ledger of an engine, a snapshot, the target of a copy.
export { openServerLedger } from './server-ledger.ts'
export { openServerSnapshot } from './server-snapshot.ts'
export { openServerTarget } from './server-target.ts'
