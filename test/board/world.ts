// Shared by the tests of the board: an engine with an agent's four tools, and helpers that read their answers.
import { expect, onTestFinished } from 'vitest'
import { type BoardTools, type BoardToolsOptions, boardTools } from '../../src/board/board-tools.ts'
import { ErrandError } from '../../src/core/errors.ts'
import type { Engine, EngineOptions } from '../../src/engine/engine-api.ts'
import type { BoardTask } from '../../src/entities/board.ts'
import { history, openEngine } from '../engine/world.ts'

export type Json = Record<string, unknown>

export interface Agent {
  tools: BoardTools
  /** The text of an answer. */
  say(tool: string, input?: unknown): Promise<string>
  /** The answer parsed as JSON; an `Error: …` fails the test. */
  ask(tool: string, input?: unknown): Promise<Json>
}

/** The tools of one agent; its claims do not expire unless the test sets a lease. */
export function agentOn(engine: Engine, as: string, options: BoardToolsOptions = {}): Agent {
  const tools = boardTools(engine, { as, leaseMs: null, ...options })
  onTestFinished(() => tools.close())
  return {
    tools,
    say: (tool, input) => tools.dispatch(tool, input),
    async ask(tool, input) {
      const text = await tools.dispatch(tool, input)
      expect(text).toMatch(/^\{/)
      return JSON.parse(text) as Json
    },
  }
}

/** An engine and the tools of alice. */
export async function openBoard(options: EngineOptions = {}): Promise<Agent & { engine: Engine }> {
  const engine = (await openEngine(options)) as unknown as Engine
  return { engine, ...agentOn(engine, 'alice') }
}

/** Creates tasks named by letters, each blocked by those in its line: `{ a: '', b: 'a' }`. Resolves to their numbers in order. */
export async function graph({ engine }: { engine: Engine }, lines: Record<string, string>): Promise<void> {
  const numbers = new Map<string, number>()
  for (const [subject, after] of Object.entries(lines)) {
    const blockedBy = after.split('').map((each) => numbers.get(each) as number)
    const { task } = await engine.bus.call('board:create', { subject, blockedBy })
    numbers.set(subject, task.id)
  }
}

export async function taskOf(engine: Engine, id: number | string): Promise<BoardTask> {
  return (await engine.bus.call('board:get', { id })).task as BoardTask
}

/** `a [b, c]` for each task with its open blockers. */
export async function waits(engine: Engine): Promise<Record<string, unknown>> {
  const { tasks } = await engine.bus.call('board:list', {})
  return Object.fromEntries(tasks.map(({ id, blockedBy }) => [id, blockedBy]))
}

/** The code of a refusal, or the outcome. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'ok'
  } catch (error) {
    return ErrandError.isInstance(error) ? error.code : String(error)
  }
}

/** All rows and events. Equal before and after means that nothing was changed. */
export async function everything(engine: Engine): Promise<string> {
  const { tasks } = await engine.list({ limit: 1_000 })
  return JSON.stringify([tasks, await history(engine)])
}
