// Shared by the tests of memory: an engine on a ledger of the test, short helpers for agents, and all tables of memory at once, for
// asserting that nothing has changed.
import { onTestFinished } from 'vitest'
import type { Caller } from '../../src/bus/caller.ts'
import type { Engine, EngineOptions } from '../../src/engine/engine-api.ts'
import type { DecisionRecord, FactRecord, ObservationRecord } from '../../src/entities/memory.ts'
import type { Ledger, Op, Step, Tx } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { openEngine } from '../engine/world.ts'
import { surface } from '../operations/world.ts'

export type Json = Record<string, any>
export type Call = (abilityId: string, input?: unknown) => Promise<Json>

export interface Memory {
  engine: Engine
  ledger: Ledger
  /** Calls abilities as a surface does: JSON in, JSON out. */
  call: Call
  /** The same in the name of a task. */
  as(caller: Caller): Call
  /** Records an insight, by default of session s1 on main. */
  see(content: string, more?: Json): Promise<string>
  /** Consolidates a session. */
  session(sessionId?: string, more?: Json): Promise<Json>
  facts(branch?: string, more?: Json): Promise<Json[]>
  /** `0.7 text` for each active fact of a branch, oldest first, without summaries. */
  known(branch?: string): Promise<string[]>
  /** A task with a branch, and agents that have joined it. */
  team(name: string, ...agents: string[]): Promise<{ taskId: string; branch: string; on(agent: string): string }>
  tables(): Promise<Tables>
}

export interface Tables {
  facts: FactRecord[]
  observations: ObservationRecord[]
  branches: Json[]
  decisions: DecisionRecord[]
  runs: Json[]
}

export async function openMemory(
  options: EngineOptions = {},
  wrap: (ledger: Ledger) => Ledger = (ledger) => ledger,
): Promise<Memory> {
  const inner = (options.ledger as Ledger | undefined) ?? (await openLedger(':memory:'))
  if (options.ledger === undefined) onTestFinished(() => inner.close())
  const ledger = wrap(inner)
  const engine = (await openEngine({ work: false, ...options, ledger })) as unknown as Engine
  const call = surface(engine) as Call
  return {
    engine,
    ledger: inner,
    call,
    as: (caller) => surface(engine, caller) as Call,
    async see(content, more = {}) {
      const seen = await call('mem:observe', { sessionId: 's1', type: 'insight', content, ...more })
      return seen['observationId'] as string
    },
    session: (sessionId = 's1', more = {}) => call('mem:consolidate', { level: 'session', sessionId, ...more }),
    facts: async (branch = 'main', more = {}) =>
      (await call('mem:facts', { branch, limit: 1_000, ...more }))['facts'] as Json[],
    async known(branch = 'main') {
      const { facts } = await call('mem:facts', { branch, status: 'active', limit: 1_000 })
      const shown = (facts as Json[]).filter(({ category }) => category !== 'summary')
      return shown.map(({ text, confidence }) => `${confidence as number} ${text as string}`).reverse()
    },
    async team(name, ...agents) {
      const { taskId, branch } = (await call('task:create', { name })) as { taskId: string; branch: string }
      for (const agentId of agents) await call('agent:join', { taskId, agentId })
      return { taskId, branch, on: (agent) => `${branch}/${agent}` }
    },
    tables: () => tablesOf(inner),
  }
}

const all = 1_000_000

export function tablesOf(ledger: Ledger): Promise<Tables> {
  return ledger.read(function* (tx): Op<Tables> {
    const branches = yield* tx.branch.list({}, all, 0)
    const names = branches.map(({ name }) => name)
    const facts = (yield* tx.fact.list({ branches: names }, all, all)).reverse()
    const decisions: DecisionRecord[] = []
    for (const { id } of facts) decisions.push(...(yield* tx.consolidation.decisionsOn(id, all)).reverse())
    return {
      facts,
      observations: (yield* tx.observation.list({}, all, all)).reverse(),
      branches: branches.map((branch) => ({ ...branch })),
      decisions,
      runs: (yield* tx.consolidation.list({}, all, all)).reverse().map((run) => ({ ...run })),
    }
  })
}

/** All tables but the history of runs, in which every run leaves a row (conformance S2-095). */
export function withoutRuns({ runs: _runs, ...tables }: Tables): Omit<Tables, 'runs'> {
  return tables
}

/** The same without times and with ids numbered by first appearance, for comparing two ledgers. */
export function inOrder(tables: Tables): unknown {
  const names = new Map<string, string>()
  const json = JSON.stringify(tables, (key, value: unknown) =>
    ['createdAt', 'updatedAt', 'at', 'seq'].includes(key) ? undefined : value,
  )
  const named = json.replace(/(?:fact|obs|cons|task)-[a-z0-9]+/g, (id) => {
    if (!names.has(id)) names.set(id, `${id.split('-')[0] as string} ${names.size}`)
    return names.get(id) as string
  })
  return JSON.parse(named)
}

/** A ledger whose writing steps use another transaction, in which a test plants a fault. */
export function tampered(inner: Ledger, change: (tx: Tx, step: string) => Tx): Ledger {
  return {
    name: inner.name,
    read: (query) => inner.read(query),
    register: (id) => inner.register(id),
    isAlive: (id) => inner.isAlive(id),
    unregister: (id) => inner.unregister(id),
    observe: (observer, options) => inner.observe(observer, options),
    close: () => inner.close(),
    step<R>(step: Step<R>): Promise<R> {
      return inner.step({ ...step, decide: (tx) => step.decide(change(tx, step.name)) })
    },
  }
}

/** A ledger that adds the name of each step that it receives to a list. */
export function listing(inner: Ledger, received: string[]): Ledger {
  return {
    ...tampered(inner, (tx) => tx),
    step(step) {
      received.push(step.name)
      return inner.step(step)
    },
  }
}

/** A transaction with some operations of one of its parts replaced. */
export function replacing<K extends keyof Tx>(tx: Tx, part: K, verbs: Partial<Tx[K]>): Tx {
  return { ...tx, [part]: { ...tx[part], ...verbs } }
}

/** Texts with so many common words: the first is alike only to itself. */
export const sentence = 'the login page keeps its session token in a cookie that scripts can read'
