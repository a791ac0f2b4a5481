// `errand claim`: claims a task for a client outside of the engine, who works on it.

import { ErrandError } from '../../../core/errors.ts'
import type { Engine } from '../../../engine/engine-api.ts'
import type { ClaimOptions } from '../../../entities/options.ts'
import type { Task } from '../../../entities/task.ts'
import { lists, texts } from '../../terminal/arguments.ts'
import { type CommandIo, print, printJson } from '../../terminal/io.ts'
import { durationOption } from '../../terminal/option-values.ts'
import { shellCommand } from '../../terminal/shell-quote.ts'
import { ownerLabel, stateLabel, taskLabel, taskNumber } from '../../terminal/task-labels.ts'
import { cleanText, indented } from '../../terminal/terminal-text.ts'
import { ledgerFlagOf } from '../ledger-path.ts'
import { withLedger } from '../open-ledger.ts'
import { requireWriterName } from '../owner-flags.ts'
import { findTask, optionalTaskId } from '../task-ref.ts'
import { defineVerb } from '../verb.ts'

export const claim = defineVerb({
  usage: 'claim [ID] --as OWNER [--lease DURATION] [--role R] [--parent ID] [--tag T]…',
  help: [
    'Claims a task that has no executor, so that only you work on it. Without ID, claims the oldest of the claimable tasks with the highest priority.',
    'Prints the task with the number of the claim, which "complete", "fail", "heartbeat" and "release" take as --fence.',
    'Exits with 1 if there is nothing to claim, or if another client has claimed the task first.',
    '  --as OWNER        your name; default: ERRAND_OWNER',
    '  --lease DURATION  the claim expires unless "errand heartbeat" renews it in time: 90s, 5m, 2h; default: it never expires',
    '  --role R          your role; also claims tasks that only this role may claim',
    '  --parent ID       only children of this task',
    '  --tag T           only tasks with this tag; if given several times, with all of them',
  ].join('\n'),
  options: { ...texts('as', 'lease', 'role', 'parent'), ...lists('tag') },
  positionals: { max: 1 },
  async run(io, { values, positionals: [ref] }) {
    const owner = requireWriterName(io, values)
    const leaseMs = values.lease === undefined ? undefined : durationOption('lease', values.lease)
    return await withLedger(io, values, async (engine) => {
      const parentId = await optionalTaskId(engine, values.parent)
      const terms = { owner, source: 'cli', leaseMs, parentId, role: values.role, tags: values.tag }
      const task = await claimed(engine, ref, terms)
      if (values.json) printJson(io, task)
      else describe(io, task, ledgerFlagOf(values))
    })
  },
})

async function claimed(engine: Engine, ref: string | undefined, options: ClaimOptions): Promise<Task> {
  if (ref !== undefined) return await engine.claim((await findTask(engine, ref)).id, options)
  const task = await engine.claim(null, options)
  if (task !== null) return task
  throw new ErrandError('NOT_CLAIMABLE', noneText(options), { reason: 'none' })
}

function noneText({ role, parentId, tags = [] }: ClaimOptions): string {
  const filters = [
    role !== undefined && `for the role ${role}`,
    parentId !== undefined && `directly in ${parentId}`,
    tags.length > 0 && `tagged ${tags.join(', ')}`,
  ].filter((text) => text !== false)
  const which = filters.length === 0 ? '' : ` ${filters.join(', ')}`
  const roles = role === undefined ? ' Tasks for a role are claimed with --role.' : ''
  return `There is no task to claim${which}: every matching task is claimed, blocked, on a timer or settled.${roles} "errand ps" shows claimable tasks.`
}

function describe(io: CommandIo, task: Task, ledgerFlag: string[]): void {
  print(io, `${taskLabel(task)}: ${stateLabel(task)}, ${ownerLabel(task)}`)
  for (const field of ['goal', 'description'] as const) {
    if (task[field]) print(io, indented(cleanText(task[field])))
  }
  const completion = [taskNumber(task), '--as', task.owner ?? '', '--fence', `${task.fence}`, ...ledgerFlag]
  print(io, `    ${shellCommand('errand', 'complete', ...completion)}`)
}
