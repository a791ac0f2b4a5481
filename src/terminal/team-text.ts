// Teams for people: objectives a line each, what a merge came to, and the numbers that name objectives.

import type { Engine } from '../engine-api.ts'
import type { Merge } from '../memory/merge.ts'
import type { TeamContext } from '../team/context.ts'
import type { Objective } from '../team/objectives.ts'
import { wholeNumber } from './arguments.ts'
import { cliCaller } from './caller.ts'
import type { CommandIo, JsonFlag } from './io.ts'
import { shellCommand } from './shell-quote.ts'
import { printTable } from './table.ts'
import { shortId } from './task-labels.ts'

/** All that one has to know to work on a task. The output of the ability is whole in one of its formats and a text in the other. */
export async function contextOf(engine: Engine, taskId: string): Promise<TeamContext> {
  return (await engine.bus.call('task:context', { taskId }, cliCaller)) as TeamContext
}

export async function contextTextOf(engine: Engine, taskId: string): Promise<string> {
  const { text = '' } = await engine.bus.call('task:context', { taskId, format: 'text' }, cliCaller)
  return text
}

/** How what is found out on a task is kept for its team, as it is typed. */
export function observeCommand(taskId: string, session: string, agent: string | undefined): string {
  const who = agent === undefined ? [] : ['--agent', agent]
  const where = ['--task', shortId(taskId), ...who, '--session', session]
  return shellCommand('errand', 'memory', 'observe', ...where, '--type', 'insight', 'TEXT')
}

/** Of an option that may be given several times and may hold several: `--objective 1,2 --objective 5`. */
export function objectiveNumbers(given: readonly string[] = []): number[] {
  return given.flatMap((each) => each.split(',')).map((each) => wholeNumber('objective', each.trim(), 1))
}

export function printObjectives(io: CommandIo, flags: JsonFlag, objectives: readonly Objective[]): void {
  printTable(io, flags, objectives, 'It has no objectives.', {
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

/** What a merge came to, in a line. */
export function mergeText({ merged, rejected, conflicts }: Pick<Merge, 'merged' | 'rejected' | 'conflicts'>): string {
  const told = [
    `${factCount(merged)} merged`,
    ...(rejected === 0 ? [] : [`${rejected} rejected`]),
    ...(conflicts.length === 0 ? [] : [`${conflicts.length} in conflict with another`]),
  ]
  return told.join(', ')
}
