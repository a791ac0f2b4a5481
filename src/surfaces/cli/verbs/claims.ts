// A task that is worked on from outside, by whoever has claimed it: `errand claim`, `heartbeat`, `release`, `complete` and `fail`.

import type { ClaimOptions } from '../../../api/options.ts'
import { ErrandError } from '../../../core/errors.ts'
import type { Engine } from '../../../engine-api.ts'
import { failureSuffix, type Task } from '../../../entities/task.ts'
import { lists, texts } from '../../../terminal/arguments.ts'
import { type CommandIo, print, printJson, printValue } from '../../../terminal/io.ts'
import { durationOption, givenResult } from '../../../terminal/option-values.ts'
import { shellCommand } from '../../../terminal/shell-quote.ts'
import { endReason, ownerLabel, shortId, stateLabel, taskLabel } from '../../../terminal/task-labels.ts'
import { cleanText, indented } from '../../../terminal/terminal-text.ts'
import { ledgerFlagOf } from '../ledger-path.ts'
import { withLedger, withTask } from '../open-ledger.ts'
import { asOwner, claimTokenIfClaimed, claimTokenOf, ownerOptions, requireWriterName } from '../owner-flags.ts'
import { findTask, optionalTaskId } from '../task-ref.ts'
import { defineVerb } from '../verb.ts'

/** A task that no executor runs becomes somebody's, so that no two work on it. */
export const claim = defineVerb({
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
  print(io, `${taskLabel(task)}: ${stateLabel(task)}, ${ownerLabel(task)}`)
  for (const field of ['goal', 'description'] as const) {
    if (task[field]) print(io, indented(cleanText(task[field])))
  }
  const quote = [shortId(task.id), '--as', task.owner ?? '', '--fence', `${task.fence}`, ...ledgerFlag]
  print(io, `    ${shellCommand('errand', 'complete', ...quote)}`)
}

/** By a sign of life the lease of a claim begins anew. */
export const heartbeat = defineVerb({
  usage: 'heartbeat ID --as OWNER [--fence N]',
  help: 'Says that you still work on a task that you claimed: its lease begins anew. --as defaults to ERRAND_OWNER; --fence is the number of the claim, required with a lease.',
  options: ownerOptions,
  positionals: { min: 1, max: 1 },
  async run(io, args) {
    const quote = claimTokenOf(io, args.values)
    await withTask(io, args, async (engine, task) => {
      const alive = await asOwner(task, quote, () => engine.heartbeat(task.id, quote))
      printValue(io, args.values, alive, `${taskLabel(alive)} is ${ownerLabel(alive)}`)
    })
  },
})

export const release = defineVerb({
  usage: 'release ID --as OWNER [--fence N] [REASON…]',
  help: 'Lets go of a task that you claimed: it may be claimed again. --as defaults to ERRAND_OWNER; --fence is the number of the claim, required with a lease.',
  options: ownerOptions,
  positionals: { min: 1 },
  async run(io, args) {
    const quote = claimTokenOf(io, args.values)
    const reason = args.positionals.slice(1).join(' ') || undefined
    await withTask(io, args, async (engine, task) => {
      const released = await asOwner(task, quote, () => engine.release(task.id, { ...quote, reason }))
      printValue(io, args.values, released, `${taskLabel(released)} released, now ${stateLabel(released)}`)
    })
  },
})

export const complete = defineVerb({
  usage: 'complete ID [--as OWNER] [--fence N] [--result JSON | RESULT…]',
  help: [
    'Completes a task that is worked on from outside. RESULT is a text, --result a JSON value.',
    '  --as OWNER  whose claim it is; default: ERRAND_OWNER',
    '  --fence N   the number of the claim, as "errand claim" printed it; required with a lease',
  ].join('\n'),
  options: { ...ownerOptions, ...texts('result') },
  positionals: { min: 1 },
  async run(io, args) {
    const result = givenResult(args.values.result, args.positionals.slice(1))
    await withTask(io, args, async (engine, task) => {
      const quote = claimTokenIfClaimed(io, args.values, task)
      const completed = await asOwner(task, quote, () => engine.complete(task.id, result, quote))
      printValue(io, args.values, completed, `${taskLabel(completed)} ${stateLabel(completed)}`)
    })
  },
})

export const fail = defineVerb({
  usage: 'fail ID REASON… [--as OWNER] [--fence N] [--code CODE]',
  help: [
    'Fails a task that is worked on from outside. "errand retry" opens it again.',
    '  --as OWNER   whose claim it is; default: ERRAND_OWNER',
    '  --fence N    the number of the claim, as "errand claim" printed it; required with a lease',
    '  --code CODE  what programs see; default: TASK_FAILED',
  ].join('\n'),
  options: { ...ownerOptions, ...texts('code') },
  positionals: { min: 2 },
  run: (io, args) =>
    withTask(io, args, async (engine, task) => {
      const quote = claimTokenIfClaimed(io, args.values, task)
      const reason = args.positionals.slice(1).join(' ')
      const failed = await asOwner(task, quote, () =>
        engine.fail(task.id, reason, { ...quote, code: args.values.code }),
      )
      const why = failureSuffix(endReason(failed))
      printValue(io, args.values, failed, `${taskLabel(failed)} ${stateLabel(failed)}${why}`)
    }),
})
