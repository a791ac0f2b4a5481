// The entry point `errand/testing`: time, ids, a model and a ledger under the control of a test.

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
export { type DurableOptions, type DurableReport, type DurableTest, expectDurable } from './expect-durable.ts'
export {
  createFaultyLedger,
  type FaultKind,
  type FaultRates,
  type FaultyLedger,
  type Gate,
  type StepChoice,
} from './faulty-ledger.ts'
export { createSequentialIds } from './sequential-ids.ts'
export { SimulatedClock } from './simulated-clock.ts'
export { createTestEngine, type TestEngine, type TestEngineOptions } from './test-engine.ts'
