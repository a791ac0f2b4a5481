// Shared by the tests of agents in a team: a ledger to read, agents that play a script, and teams of them.
import { onTestFinished } from 'vitest'
import { type AgentOptions, agent } from '../../src/agents/loop/agent.ts'
import type { ScriptedTurn } from '../../src/agents/models/script.ts'
import { createScriptedModel, type ScriptedModel, type ScriptFunction } from '../../src/agents/models/scripted-model.ts'
import type { Engine, EngineOptions, ExecutorMap } from '../../src/engine/engine-api.ts'
import type { FactRecord, ObservationRecord } from '../../src/entities/memory.ts'
import type { StintRecord } from '../../src/entities/team.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { openEngine } from '../engine/world.ts'

/** An engine whose ledger the test reads. */
export async function openWithLedger<const E extends ExecutorMap>(
  options: EngineOptions<E>,
  file = ':memory:',
): Promise<{ engine: Engine<E>; ledger: Ledger }> {
  const ledger = await openLedger(file)
  onTestFinished(() => ledger.close())
  return { ledger, engine: await openEngine<E>({ ...options, ledger }) }
}

/** An agent with a model of its own, and the prompts of that model. */
export function scripted(script: readonly ScriptedTurn[] | ScriptFunction, options: AgentOptions = {}) {
  const model: ScriptedModel = createScriptedModel(script)
  return { model, executor: agent({ ...options, model }) }
}

/** A model with one answer. */
export const says = (text: string) => scripted([{ text }])

export const stintsOf = (ledger: Ledger, taskId: string): Promise<StintRecord[]> =>
  ledger.read((tx) => tx.team.stints(taskId))

/** Oldest first. */
export const observationsOf = async (ledger: Ledger, taskId: string): Promise<ObservationRecord[]> =>
  (await ledger.read((tx) => tx.observation.list({ taskId }, 1_000, Number.MAX_SAFE_INTEGER))).toReversed()

/** Active facts of a branch, oldest first. */
export const factsOn = (ledger: Ledger, branch: string): Promise<FactRecord[]> =>
  ledger.read((tx) => tx.fact.active(branch, 0, 1_000))

/** In short: `agent type content → outcome`. */
export const observed = (found: readonly ObservationRecord[]): string[] =>
  found.map(
    ({ agentId, type, content, outcome }) => `${agentId} ${type} ${content}${outcome === null ? '' : ` → ${outcome}`}`,
  )

/** Closes the branch of a team, or of one of its agents, by hand. */
export function archive(ledger: Ledger, taskId: string, agentId?: string): Promise<void> {
  return ledger.step({
    name: 'archive',
    *decide(tx) {
      const owner = agentId === undefined ? yield* tx.team.get(taskId) : yield* tx.team.latestStint(taskId, agentId)
      const branch = yield* tx.branch.get(owner?.branch as string)
      if (branch !== undefined) yield* tx.branch.save({ ...branch, status: 'archived' })
    },
  })
}

export const teamOf = (ledger: Ledger, taskId: string) => ledger.read((tx) => tx.team.get(taskId))

/** Resolves when an agent has been completed so many times. */
export async function left(engine: Engine<any>, taskId: string, agentId: string, times = 1): Promise<void> {
  let missing = times
  for await (const { type, data } of engine.events({ taskId })) {
    if (type === 'agent.completed' && data['agentId'] === agentId && --missing === 0) return
  }
}

/** Resolves when the team of a task has been closed. */
export async function closed(engine: Engine<any>, taskId: string): Promise<void> {
  for await (const { type } of engine.events({ taskId })) if (type === 'team.closed') return
}
