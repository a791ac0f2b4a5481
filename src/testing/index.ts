// The entry point `errand/testing`: time, ids and a ledger under the control of a test, and the contract of every ledger.

export { parseScript, type ScriptedTurn } from '../agents/models/script.ts'
export {
  createScriptedModel,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedPrompt,
  type ScriptFunction,
} from '../agents/models/scripted-model.ts'
export type { Clock } from '../core/clock.ts'
export type { Ids } from '../core/ids.ts'
export type { Ledger, LedgerObserver, Life, Op, Reads, Step, Tx } from '../ledger/ledger.ts'
export { openLedger } from '../ledger/open-ledger.ts'
export { openPostgresLedger, type PostgresClient } from '../ledger/postgres/postgres-ledger.ts'
export {
  branchRow,
  callRow,
  consolidationRow,
  decisionRow,
  edgeRow,
  eventRow,
  factRow,
  messageRow,
  objectiveRow,
  observationRow,
  runRow,
  someTime,
  stintRow,
  taskRow,
  teamRow,
} from './factories.ts'
export {
  createFaultyLedger,
  type FaultKind,
  type FaultRates,
  type FaultyLedger,
  type Gate,
  type StepChoice,
} from './faulty-ledger.ts'
export type { Expectation, OpenedLedger, TestWords } from './ledger-contract/contract-world.ts'
export { ledgerContract } from './ledger-contract/ledger-contract.ts'
export { createSequentialIds } from './sequential-ids.ts'
export { SimulatedClock } from './simulated-clock.ts'
