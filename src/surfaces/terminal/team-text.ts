// Teams for people: context, objectives and merges as text, and the commands for observations.

import type { Engine } from '../../engine/engine-api.ts'
import type { Merge } from '../../memory/merge.ts'
import type { TeamContext } from '../../memory/team/context.ts'
import type { Objective } from '../../memory/team/objectives.ts'
import { wholeNumber } from './arguments.ts'
import { cliCaller } from './caller.ts'
import type { CommandIo, JsonFlag } from './io.ts'
import { shellCommand } from './shell-quote.ts'
import { printTable } from './table.ts'

/** The context of a task as an object. The cast is safe: the ability returns all fields in its default format. */
export async function contextOf(engine: Engine, taskId: string): Promise<TeamContext> {
  return (await engine.bus.call('task:context', { taskId }, cliCaller)) as TeamContext
}

export async function contextTextOf(engine: Engine, taskId: string): Promise<string> {
  const { text = '' } = await engine.bus.call('task:context', { taskId, format: 'text' }, cliCaller)
  return text
}

/** The command that records an observation on a task. @param task its number or id. */
export function observeCommand(task: string, session: string, agent: string | undefined): string {
  const who = agent === undefined ? [] : ['--agent', agent]
  const where = ['--task', task, ...who, '--session', session]
  return shellCommand('errand', 'memory', 'observe', ...where, '--type', 'insight', 'TEXT')
}

/** Reads an option that may be given several times and may hold several numbers: `--objective 1,2 --objective 5`. */
export function objectiveNumbers(given: readonly string[] = []): number[] {
  return given.flatMap((each) => each.split(',')).map((each) => wholeNumber('objective', each.trim(), 1))
}

export function printObjectives(io: CommandIo, flags: JsonFlag, objectives: readonly Objective[]): void {
  printTable(io, flags, objectives, 'The task has no objectives.', {
    n: ({ id }) => id,
    status: ({ status }) => status,
    agent: ({ agentId }) => agentId,
    objective: ({ description, notes }) => (notes === null ? description : `${description} (${notes})`),
  })
}

/** `1 fact`, `3 facts`. */
export function factCount(count: number): string {
  return `${count} ${count === 1 ? 'fact' : 'facts'}`
}

/** The result of a merge as one line. */
export function mergeText({ merged, rejected, conflicts }: Pick<Merge, 'merged' | 'rejected' | 'conflicts'>): string {
  const counts = [
    `${factCount(merged)} merged`,
    ...(rejected === 0 ? [] : [`${rejected} rejected`]),
    ...(conflicts.length === 0 ? [] : [`${conflicts.length} in conflict with another`]),
  ]
  return counts.join(', ')
}
