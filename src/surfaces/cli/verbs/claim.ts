// `errand claim`: a task that no executor runs becomes somebody's, so that no two work on it.
import type { Engine } from '../../../api.ts'
import type { Task } from '../../../entities/task.ts'
import { ErrandError } from '../../../errors.ts'
import type { ClaimOptions } from '../../../options.ts'
import { exitCodes } from '../exit-code.ts'
import { type CommandIo, print, printJson } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { requireOwnerName } from '../owner-flags.ts'
import { shellCommand } from '../shell-words.ts'
import { findTask } from '../task-ref.ts'
import { ownerWords, shortId, stateWord, taskLabel } from '../task-words.ts'
import { cleanText } from '../terminal-text.ts'
import { durationOption } from '../time-options.ts'
import { defineVerb } from '../verb.ts'

export const claimVerb = defineVerb({
  usage: 'claim [ID] --as OWNER [--lease DURATION] [--role R] [--parent ID] [--tag T]…',
  help: [
    'Takes a task that no executor runs, to be worked on by you: without ID the one of the highest priority, then the oldest.',
    'Prints the task with the number of the claim (its fence), which "complete", "fail", "heartbeat" and "release" quote.',
    'Exits with 1 when there is none, or somebody was faster.',
    '  --as OWNER        who you are; default: ERRAND_OWNER',
    '  --lease DURATION  the claim lapses unless "errand heartbeat" comes in time: 90s, 5m, 2h; default: it never lapses',
    '  --role R          tasks for this role, too',
    '  --parent ID       only children of this task',
    '  --tag T           only tasks with this tag; with several, with all of them',
  ].join('\n'),
  options: {
    as: { type: 'string' },
    lease: { type: 'string' },
    role: { type: 'string' },
    parent: { type: 'string' },
    tag: { type: 'string', multiple: true },
  },
  positionals: { max: 1 },
  async run(io, { values, positionals: [ref] }) {
    const owner = requireOwnerName(io, values)
    const leaseMs = values.lease === undefined ? undefined : durationOption('lease', values.lease)
    return await withLedger(io, values, async (engine) => {
      const parentId = values.parent === undefined ? undefined : (await findTask(engine, values.parent)).id
      const task = await claimed(engine, ref, {
        owner,
        source: 'cli',
        leaseMs,
        parentId,
        role: values.role,
        tags: values.tag,
      })
      if (values.json) printJson(io, task)
      else describe(io, task, values.ledger === undefined ? [] : ['--ledger', values.ledger])
      return exitCodes.done
    })
  },
})

async function claimed(engine: Engine, ref: string | undefined, options: ClaimOptions): Promise<Task> {
  if (ref !== undefined) return await engine.claim((await findTask(engine, ref)).id, options)
  const task = await engine.claim(null, options)
  if (task !== null) return task
  throw new ErrandError('NOT_CLAIMABLE', noneWords(options), { reason: 'none' })
}

function noneWords({ role, parentId, tags = [] }: ClaimOptions): string {
  const wanted = [
    role !== undefined && `for the role ${role}`,
    parentId !== undefined && `directly in ${parentId}`,
    tags.length > 0 && `tagged ${tags.join(', ')}`,
  ].filter((words) => words !== false)
  const which = wanted.length === 0 ? '' : ` ${wanted.join(', ')}`
  const roles = role === undefined ? ' Tasks for a role are claimed with --role.' : ''
  return `There is nothing to claim${which}: every such task is taken, blocked, on a timer or settled.${roles} "errand ps" shows what is claimable.`
}

function describe(io: CommandIo, task: Task, ledgerFlag: string[]): void {
  print(io, `${taskLabel(task)}: ${stateWord(task)}, ${ownerWords(task)}`)
  for (const field of ['goal', 'description'] as const) {
    if (task[field]) print(io, `  ${cleanText(task[field]).replaceAll('\n', '\n  ')}`)
  }
  const quote = [shortId(task.id), '--as', task.owner ?? '', '--fence', `${task.fence}`, ...ledgerFlag]
  print(io, `    ${shellCommand('errand', 'complete', ...quote)}`)
}
