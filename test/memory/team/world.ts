// Shared by the tests of teams: an engine used only by the test, agents that join a task and record observations, and the contents of the
// ledger in a form that is independent of the number of attempts.

import type { Caller } from '../../../src/bus/caller.ts'
import type { Engine, EngineOptions } from '../../../src/engine/engine-api.ts'
import type { Ledger } from '../../../src/ledger/ledger.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { ledgerFile, openEngine } from '../../engine/world.ts'
import { surface } from '../../operations/world.ts'

export type Json = Record<string, unknown>
export type Call = (abilityId: string, input?: unknown) => Promise<Json>

export interface Team {
  engine: Engine
  /** Calls abilities as a surface does: JSON in, JSON out. */
  call: Call
  /** The same in the name of a task. */
  as(caller: Caller): Call
}

export async function openTeams(options: EngineOptions = {}): Promise<Team> {
  const engine = (await openEngine({ executors: {}, ...options })) as unknown as Engine
  return { engine, call: surface(engine), as: (caller) => surface(engine, caller) }
}

/** A task for agents from outside, with its branch. */
export async function teamTask(
  { call }: Pick<Team, 'call'>,
  input: Json = {},
): Promise<{ taskId: string; branch: string }> {
  return (await call('task:create', { name: 'Fix Auth', ...input })) as { taskId: string; branch: string }
}

export interface AgentAtWork {
  branch: string
  context: Json
  /** Records an observation, by default in a session named after the agent. */
  sees(content: string, type?: string, sessionId?: string): Promise<Json>
  completes(summary?: string): Promise<Json>
}

export async function joins(
  { call }: Pick<Team, 'call'>,
  taskId: string,
  agentId: string,
  more: Json = {},
): Promise<AgentAtWork> {
  const { branch, context } = (await call('agent:join', { taskId, agentId, ...more })) as {
    branch: string
    context: Json
  }
  return {
    branch,
    context,
    sees: (content, type = 'insight', sessionId = `session of ${agentId}`) =>
      call('mem:observe', { sessionId, taskId, agentId, type, content }),
    completes: (summary) => call('agent:complete', { taskId, agentId, ...(summary === undefined ? {} : { summary }) }),
  }
}

/** Texts of the active facts of a branch with their confidence, without summaries of agents. */
export async function facts({ call }: Pick<Team, 'call'>, branch: string): Promise<Record<string, number>> {
  const { facts } = (await call('mem:facts', { branch, status: 'active', limit: 1_000 })) as { facts: Json[] }
  const said = facts.filter(({ category }) => category !== 'summary')
  return Object.fromEntries(said.map(({ text, confidence }) => [text, confidence] as [string, number]))
}

export async function branchStatus(ledger: Pick<Ledger, 'read'>, name: string): Promise<string | undefined> {
  return (await ledger.read((tx) => tx.branch.get(name)))?.status
}

/** A ledger of the test, which reads its rows. */
export async function openWithRows(options: EngineOptions = {}): Promise<Team & { ledger: Ledger }> {
  const ledger = await openLedger(ledgerFile())
  return { ...(await openTeams({ ...options, ledger })), ledger }
}

/** All of memory and teams, with names instead of ids and without times. */
export async function allRows(ledger: Pick<Ledger, 'read'>, taskId: string): Promise<Json> {
  return ledger.read(function* (tx) {
    const branches = yield* tx.branch.list({}, 1_000, 0)
    const names = branches.map(({ name }) => name)
    const all = yield* tx.fact.list({ branches: names }, 10_000, Number.MAX_SAFE_INTEGER)
    const texts = new Map(all.map(({ id, branch, text }) => [id, `${branch}: ${text}`]))
    const runs = yield* tx.consolidation.list({}, 1_000, Number.MAX_SAFE_INTEGER)
    const kinds: string[] = []
    for (const { id } of runs) {
      for (const { kind, factId } of yield* tx.consolidation.decisions(id, 1_000, 0)) {
        kinds.push(`${kind} ${texts.get(factId)}`)
      }
    }
    const observations = yield* tx.observation.list({}, 1_000, Number.MAX_SAFE_INTEGER)
    const task = yield* tx.task.get(taskId)
    const team = yield* tx.team.get(taskId)
    return {
      task: [task?.status, task?.result],
      team: team && {
        ...team,
        taskId: 0,
        checkpointId: team.checkpointId !== null,
        mergeId: team.mergeId !== null,
        closedAt: team.closedAt !== null,
        createdAt: 0,
      },
      branches: branches.map(({ name, parent, status }) => [name, parent, status]),
      objectives: (yield* tx.team.objectives(taskId)).map(({ number, status, agentId }) => [number, status, agentId]),
      stints: (yield* tx.team.stints(taskId)).map(({ agentId, number, status, summary, leftAt }) => [
        agentId,
        number,
        status,
        summary,
        leftAt !== null,
      ]),
      facts: all
        .map(({ branch, text, confidence, category, status, verdict, successorId, mergedTo }) =>
          JSON.stringify([
            branch,
            text,
            confidence,
            category,
            status,
            verdict,
            texts.get(successorId ?? ''),
            texts.get(mergedTo ?? ''),
          ]),
        )
        .sort(),
      observations: observations.map(({ content, consolidatedBy }) => [content, consolidatedBy !== null]).reverse(),
      runs: runs
        .map(({ type, sourceBranch, factsCreated, factsUpdated, merged }) => [
          type,
          sourceBranch,
          factsCreated,
          factsUpdated,
          merged,
        ])
        .reverse(),
      decisions: kinds.sort(),
    }
  })
}
